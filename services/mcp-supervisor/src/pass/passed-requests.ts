import type { Bus } from '@mcp-host/bus'
import type { Envelope, McpLogLevel, PassHead } from '@mcp-host/contracts'
import { clientMessage, LOG_LEVELS } from '@mcp-host/contracts'
import type { MCPHost, ServerRequest } from 'mcp-host'
import type { ClientAnswer, Tell } from './client-questions.ts'
import { checkCapability, ClientQuestions } from './client-questions.ts'
import type { Era, Json } from './eras.ts'
import { CAPABILITIES_KEY, isObject, LOG_LEVEL_KEY } from './eras.ts'
import { HeldRequest, heldIn } from './held-request.ts'
import type { Answer } from './pass-request.ts'
import { passRequest, toError } from './pass-request.ts'
import { invalidParams, toRpcFailure } from './rpc-failure.ts'
import type { WatchedResources } from './watched-resources.ts'

export interface PassedRequestsDeps {
  readonly bus: Pick<Bus, 'blobs' | 'emit'>
  readonly server: string
  /** How long a client may take to answer. */
  readonly inputTimeoutMs: number
  /** Where the process serves one caller at a time: its name on the bus. */
  readonly process?: string
  /** Where that caller keeps a session, which also gets what belongs to no request. */
  readonly hasSession?: boolean
}

/** Where requests run. */
export interface PassedTo {
  readonly host: Pick<MCPHost, 'forward' | 'abort' | 'setLoggingLevel'>
  /** Which era the server speaks. */
  readonly era: Era
  /** Told of what goes on after the answer, until its end. */
  readonly track: (work: Promise<unknown>) => void
  readonly watched: Pick<WatchedResources, 'watch'>
}

/** A request of an MCP client, as it comes over the bus. */
export interface PassedQuestion {
  readonly head: PassHead
  readonly body: Uint8Array
  readonly envelope: Envelope
}

/** A request while it runs at the server. */
interface Running {
  /** The host knows it by this. */
  readonly id: string
  readonly era: Era
  readonly capabilities: object
  readonly logLevel: McpLogLevel | undefined
  /** Whether notices are wanted. */
  readonly isHeard: boolean
  /** To whoever waits for it now. */
  tell: Tell
  /** Aborts when it is cancelled between two requests to the server. */
  readonly cancelled: AbortController
  /** Where the caller is asked by a result, and comes back with the answer. */
  readonly held?: HeldRequest
}

const text = new TextDecoder()

/**
 * The requests of MCP clients that one host runs, and what its server asks of them meanwhile. An older client
 * is asked on the way; a newer one gets the question as the result, and asks again with the answer, while the
 * request goes on at the server.
 */
export class PassedRequests {
  readonly #deps: PassedRequestsDeps
  readonly #questions: ClientQuestions
  /** By the ids of those who wait for them. */
  readonly #running = new Map<string, Running>()
  /** Those that may wait for their caller to come back. */
  readonly #held = new Set<Running>()
  /** What the session wanted of log messages when it was heard last. */
  #sessionLevel: McpLogLevel | undefined

  constructor(deps: PassedRequestsDeps) {
    this.#deps = deps
    this.#questions = new ClientQuestions(deps.server, deps.inputTimeoutMs)
  }

  /** Runs a request; what goes wrong is an answer too. */
  async run(to: PassedTo, question: PassedQuestion, tell: Tell): Promise<Answer> {
    const { head, envelope } = question
    const params: unknown = JSON.parse(text.decode(question.body))
    if (!isObject(params)) throw new Error('params are no object')
    const state = head.era === 'modern' ? heldIn(params['requestState']) : undefined
    if (state !== undefined) return this.#resume(state, head, params, tell)
    this.#sessionLevel = head.client?.logLevel
    if (head.method === 'resources/subscribe') return this.#subscribe(to, params)
    const running = this.#begin(head, params, tell)
    await this.#setLogLevel(to, running)
    const { bus, server } = this.#deps
    const { signal } = running.cancelled
    const ask = (method: string, asked: unknown): Promise<unknown> =>
      this.#ask(running, method, asked, signal)
    const deps = { bus, server, ...to, ...(head.client === undefined ? {} : { ask }) }
    this.#running.set(head.id, running)
    const ended = passRequest(deps, { head, params, envelope }, (...part) => running.tell(...part))
    const { held } = running
    if (held === undefined) return ended.finally(() => void this.#running.delete(head.id))
    this.#held.add(running)
    const over = ended.finally(() => {
      this.#running.delete(head.id)
      this.#held.delete(running)
    })
    to.track(over)
    held.begin(over, () => to.host.abort(running.id))
    return held.round()
  }

  /** Ends a request, also one that waits for its caller. */
  cancel({ host }: Pick<PassedTo, 'host'>, id: string): void {
    const running = this.#running.get(id)
    running?.cancelled.abort()
    host.abort(running?.id ?? id)
  }

  /** Gives a sign of life of a request that runs here. */
  ping(id: string): void {
    this.#running.get(id)?.tell({ type: 'running' }, '')
  }

  answer(ask: string, answer: ClientAnswer): void {
    this.#questions.answer(ask, answer)
  }

  /** Ends those that wait for their callers: nobody comes back in time. */
  abandon({ host }: Pick<PassedTo, 'host'>): void {
    for (const { id, held } of this.#held) if (held?.isWaiting === true) host.abort(id)
  }

  /** The callback of the host: what its server asks, and what it logs. */
  readonly callback = async (request: ServerRequest): Promise<unknown> => {
    const cause = this.#causeOf(request)
    if (request.kind === 'log') return this.#log(request, cause)
    const method = METHODS[request.kind]
    const params = 'params' in request ? request.params : {}
    if (cause !== undefined) return this.#ask(cause, method, params, request.signal)
    return this.#questions.ask((ask) => this.#toSession(method, params, ask), request.signal)
  }

  #begin({ id, era, client, progress = false }: PassHead, params: Json, tell: Tell): Running {
    const { inputTimeoutMs, process } = this.#deps
    const said = isObject(params['_meta']) ? params['_meta'] : {}
    const capabilities = client?.capabilities ?? said[CAPABILITIES_KEY]
    const level = client?.logLevel ?? said[LOG_LEVEL_KEY]
    const isHeld = era === 'modern' && process !== undefined
    return {
      id,
      era,
      capabilities: isObject(capabilities) ? capabilities : {},
      logLevel: LOG_LEVELS.find((each) => each === level),
      isHeard: progress,
      tell,
      cancelled: new AbortController(),
      ...(isHeld ? { held: new HeldRequest(process, params, inputTimeoutMs) } : {}),
    }
  }

  /** The server has one subscription for all who want to hear of a resource. */
  async #subscribe({ watched }: PassedTo, { uri }: Json): Promise<Answer> {
    try {
      await watched.watch([String(uri)])
      return { head: { type: 'result' }, body: '{}' }
    } catch (error) {
      return toError(toRpcFailure(error))
    }
  }

  /** The caller is back: the request goes on with what it says. */
  async #resume(state: string, { id }: PassHead, params: Json, tell: Tell): Promise<Answer> {
    const running = Array.from(this.#held).find(({ held }) => held?.isMeant(state, params))
    if (running?.held === undefined) {
      const message = 'requestState: is not known, or not any more; begin anew without it'
      return toError(invalidParams(message))
    }
    running.tell = tell
    running.held.answer(params['inputResponses'])
    this.#running.set(id, running)
    try {
      return await running.held.round()
    } finally {
      this.#running.delete(id)
    }
  }

  /** Of a process of the caller's own; others are not told what one of their callers likes to hear. */
  async #setLogLevel({ host, era }: PassedTo, { logLevel }: Running): Promise<void> {
    const { process, server } = this.#deps
    if (logLevel === undefined || process === undefined || era === 'modern') return
    // Without it there is less to be told, and nothing else.
    await host.setLoggingLevel(logLevel, server).catch(() => undefined)
  }

  /** Of a process that serves one caller alone the newest request is as good as the one that caused it. */
  #causeOf({ call }: ServerRequest): Running | undefined {
    const exact = call?.requestId === undefined ? undefined : this.#running.get(call.requestId)
    if (exact !== undefined || this.#deps.process === undefined) return exact
    return Array.from(this.#running.values()).at(-1)
  }

  #log(
    { level, logger, data }: Extract<ServerRequest, { kind: 'log' }>,
    cause: Running | undefined,
  ): void {
    const method = 'notifications/message'
    const params = { level, ...(logger === undefined ? {} : { logger }), data }
    if (cause === undefined) {
      if (isAtLeast(level, this.#sessionLevel)) this.#toSession(method, params)
    } else if (isWanted(level, cause))
      cause.tell({ type: 'notice', method }, JSON.stringify(params))
  }

  #toSession(method: string, params: object, ask?: string): void {
    const { bus, server, process, hasSession = false } = this.#deps
    if (!hasSession || process === undefined) {
      if (ask === undefined) return
      throw new Error('a client is asked only while a request of it is under way')
    }
    const message = { server, method, params: { ...params }, ...(ask === undefined ? {} : { ask }) }
    bus.emit(clientMessage, { client: process }, message)
  }

  async #ask(
    running: Running,
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    checkCapability(running.capabilities, method, params)
    const { era, held } = running
    return this.#questions.ask((ask) => {
      if (era === 'legacy') running.tell({ type: 'ask', ask, method }, JSON.stringify(params ?? {}))
      else held?.ask({ method, params }, (result) => this.#questions.answer(ask, { result }))
    }, signal)
  }
}

const METHODS = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: 'roots/list',
} as const

/** An older client that asked for no level takes what there is; a newer one must ask. */
function isWanted(level: McpLogLevel, { era, logLevel, isHeard }: Running): boolean {
  if (!isHeard) return false
  return logLevel === undefined ? era === 'legacy' : isAtLeast(level, logLevel)
}

function isAtLeast(level: McpLogLevel, least: McpLogLevel = 'debug'): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
}
