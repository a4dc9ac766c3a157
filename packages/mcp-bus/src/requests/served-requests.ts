import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import type { AuditLog } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type { Envelope, McpLogLevel, McpRequestHead } from '@mcp-host/contracts'
import { clientMessage, LOG_LEVELS, POLICY_METHOD, serverLog } from '@mcp-host/contracts'
import { Cancellation, SlotMap, toAbortSignal } from '@mcp-host/async'
import type { ServerRequest, Upstream } from '@mcp-host/upstream'
import type { SendPart } from './client-questions.ts'
import { checkCapability, ClientQuestions, ClientRefusal, refused } from './client-questions.ts'
import type { Era, Json } from './eras.ts'
import { isObject } from '@mcp-host/json'
import type { RunningRequest, Waiting } from './running-request.ts'
import { SuspendedRequest } from './suspended-request.ts'
import type { McpReply, ParsedRequest } from './serve-request.ts'
import { serveRequest, toError } from './serve-request.ts'
import { invalidParams, toJsonRpcFailure } from './json-rpc-failure.ts'
import type { ServeCall } from '../steps/serve-call.ts'
import type { ClientAnswer } from '../subjects.ts'
import type { WatchedResources } from './watched-resources.ts'

export interface ServedRequestsDeps {
  readonly bus: Pick<Bus, 'blobs' | 'emit'>
  readonly server: string
  /** The audit log; absent when it is off. */
  readonly audit?: AuditLog | undefined
  /** The time limit for a client's answer. */
  readonly inputTimeoutMs: number
  /** The name on the bus of a dedicated process; absent for a shared one. */
  readonly process?: string
  /** Whether the dedicated process belongs to a session, which also gets messages outside of requests. */
  readonly hasSession?: boolean
  /** The capabilities of that session. */
  readonly capabilities?: object
  /** Whether all callers are one user, whom alone messages outside of requests concern. */
  readonly isOfUser?: boolean
}

/** The server that the requests are for. */
export interface RequestTarget {
  readonly upstream: Pick<Upstream, 'request' | 'abort' | 'setLoggingLevel'>
  readonly serve: ServeCall
  /** Resolves when the process has started or has failed to start; `undefined` when it has already. */
  readonly ready: () => Promise<void> | undefined
  /** The era of the server, once it is known. */
  readonly era: () => Era
  /** Counts work that continues after the reply. */
  readonly track: (work: Promise<unknown>) => void
  readonly watched: Pick<WatchedResources, 'watch'>
  /** Aborts when the server ends here, so that no request waits for its user any more. */
  readonly leaving: AbortSignal
}

/** A request of an MCP client, as received from the bus. */
export interface IncomingRequest {
  readonly head: McpRequestHead
  readonly body: Uint8Array
  readonly envelope: Envelope
}

const text = new TextDecoder()
const OVER = new Error('the request is over')

/**
 * Serves the requests of MCP clients at one server, and passes requests of its server to them. A legacy client is asked
 * during the request. A modern client gets the question as the result, and retries with the answer, while the request
 * continues at the server.
 */
export class ServedRequests {
  readonly #deps: ServedRequestsDeps
  readonly #questions: ClientQuestions
  readonly #waiting = new SlotMap<Waiting>()
  #turn = 0
  /** Requests that may be suspended until their caller retries. */
  readonly #suspended = new Set<RunningRequest>()
  /** The log level of the session at its last request. */
  #sessionLevel: McpLogLevel | undefined

  constructor(deps: ServedRequestsDeps) {
    this.#deps = deps
    this.#questions = new ClientQuestions(deps.server)
  }

  /** Serves a request. Failures also become replies. Throws when the message is not a request. */
  serve(to: RequestTarget, question: IncomingRequest, send: SendPart): Promise<McpReply> {
    const { head, envelope } = question
    const params: unknown = JSON.parse(text.decode(question.body))
    if (!isObject(params)) throw new Error('params are no object')
    const suspended = this.#suspended
      .values()
      .find((each) => each.suspended?.isMeant(params, envelope.principal) === true)
    if (suspended !== undefined) return this.#resume(suspended, question, params, send)
    this.#sessionLevel = head.client?.logLevel
    const running = this.#begin(question, params, send)
    const ended = this.#serveTo(to, running, { head, params, envelope })
    if (running.suspended === undefined) return ended
    this.#suspended.add(running)
    to.track(ended)
    running.suspended.begin(ended, () => {
      to.upstream.abort(running.id)
      this.#suspended.delete(running)
    })
    return this.#round(running)
  }

  /** Ends a request, even one that waits for its caller. */
  cancel({ upstream }: Pick<RequestTarget, 'upstream'>, id: string): void {
    const running = this.#runningFor(id)
    running?.cancelled.cancel(
      new ClientRefusal({ code: JsonRpcCode.cancelled, message: 'was cancelled' }),
    )
    upstream.abort(running?.id ?? id)
  }

  /** Sends a sign of life of a request that runs here. */
  ping(id: string): void {
    this.#runningFor(id)?.send({ type: 'running' }, '')
  }

  answer(ask: string, client: string | undefined, answer: ClientAnswer): void {
    this.#questions.answer(ask, client, answer)
  }

  /** Ends requests that wait for an answer of their callers, since nobody knows how long that takes. */
  abandon({ upstream }: Pick<RequestTarget, 'upstream'>): void {
    for (const { id, suspended } of this.#suspended)
      if (suspended?.isWaiting === true) upstream.abort(id)
    for (const { running } of this.#waiting.values()) {
      if (running.openQuestions === 0) continue
      const message = `the server "${this.#deps.server}" moved to another process while it waited for an answer; whether the request had an effect is unknown`
      const data = { reason: 'unknown-outcome', retryable: false }
      running.abandoned = new ClientRefusal({ code: JsonRpcCode.unavailable, message, data })
      running.cancelled.cancel(running.abandoned)
      upstream.abort(running.id)
    }
  }

  /** The host's callback: requests and log messages of the server. */
  readonly callback = async (request: ServerRequest): Promise<unknown> => {
    const cause = this.#causeOf(request)
    if (request.kind === 'log') return this.#log(request, cause)
    const method = METHODS[request.kind]
    const params = 'params' in request ? request.params : {}
    if (cause !== undefined) return this.#ask(cause, method, params, request.signal)
    const { inputTimeoutMs: limitMs, hasSession = false, capabilities = {}, process } = this.#deps
    if (!hasSession) throw new Error('a client is asked only while a request of it is under way')
    checkCapability(capabilities, method, params)
    const options = { client: process, signal: request.signal, limitMs }
    return this.#questions.ask((ask) => this.#toSession(method, params, ask), options)
  }

  #begin({ head, envelope }: IncomingRequest, params: Json, send: SendPart): RunningRequest {
    const { inputTimeoutMs, process } = this.#deps
    const { id, era, client, progress = false } = head
    const { principal } = envelope
    const said = isObject(params['_meta']) ? params['_meta'] : {}
    const capabilities = client?.capabilities ?? said[MetaKey.clientCapabilities]
    const level = client?.logLevel ?? said[MetaKey.logLevel]
    const isSuspendable = era === 'modern' && process !== undefined
    return {
      id,
      client: client?.id,
      era,
      capabilities: isObject(capabilities) ? capabilities : {},
      logLevel: LOG_LEVELS.find((each) => each === level),
      wantsNotices: progress,
      send,
      hasAsked: false,
      openQuestions: 0,
      cancelled: new Cancellation(),
      suspended: isSuspendable
        ? new SuspendedRequest({ params, process, principal }, inputTimeoutMs)
        : undefined,
    }
  }

  /** All subscribers of a resource share one subscription at the server. */
  async #subscribe({ watched }: RequestTarget, { uri }: Json): Promise<McpReply> {
    try {
      await watched.watch([String(uri)])
      return { head: { type: 'result' }, body: '{}' }
    } catch (error) {
      return toError(toJsonRpcFailure(error))
    }
  }

  async #serveTo(
    to: RequestTarget,
    running: RunningRequest,
    request: ParsedRequest,
  ): Promise<McpReply> {
    // From here on, control messages find the request, even before its process has started.
    const key = this.#wait(request.head, running)
    try {
      const reply = await this.#serveNow(to, running, request)
      const isAbandoned = running.abandoned !== undefined && reply.head.type === 'error'
      return isAbandoned ? toError(toJsonRpcFailure(running.abandoned)) : reply
    } finally {
      this.#waiting.delete(key)
      if (running.hasAsked) running.cancelled.cancel(OVER)
    }
  }

  async #serveNow(
    to: RequestTarget,
    running: RunningRequest,
    request: ParsedRequest,
  ): Promise<McpReply> {
    const { bus, server, audit } = this.#deps
    const { head, params } = request
    try {
      const ready = to.ready()
      if (ready !== undefined) await ready
      const levelSet = this.#setLogLevel(to, running)
      if (levelSet !== undefined) await levelSet
      // The host does not know the request yet, so a cancellation is checked here.
      running.cancelled.throwIfAborted()
    } catch (error) {
      return toError(toJsonRpcFailure(error))
    }
    const era = to.era()
    if (head.method === 'resources/subscribe') return this.#subscribe(to, params)
    if (head.era === 'modern' && era === 'legacy' && params['requestState'] !== undefined) {
      const message = 'requestState: is unknown or expired; begin again without it'
      return toError(invalidParams(message))
    }
    const ask =
      head.client === undefined
        ? undefined
        : (method: string, asked: unknown, withdrawn?: AbortSignal): Promise<unknown> =>
            this.#ask(running, method, asked, withdrawn)
    const cancelled = (): AbortSignal => toAbortSignal(running.cancelled)
    const askPolicy = async (call: Json): Promise<boolean> => {
      const answer = await this.#askLegacy(running, POLICY_METHOD, call, cancelled())
      return isObject(answer) && answer['isAllowed'] === true
    }
    const { upstream, serve, leaving } = to
    const deps = { bus, server, audit, upstream, serve, era, ask, askPolicy, cancelled, leaving }
    return serveRequest(deps, request, (...part) => running.send(...part))
  }

  /** Continues a suspended request with its caller's answers. */
  async #resume(
    running: RunningRequest,
    question: IncomingRequest,
    params: Json,
    send: SendPart,
  ): Promise<McpReply> {
    const { logLevel, wantsNotices } = this.#begin(question, params, send)
    Object.assign(running, { send, logLevel, wantsNotices })
    running.suspended?.answer(params['inputResponses'])
    const key = this.#wait(question.head, running)
    try {
      return await this.#round(running)
    } finally {
      this.#waiting.delete(key)
    }
  }

  async #round(running: RunningRequest): Promise<McpReply> {
    const answer = await running.suspended?.round()
    if (running.suspended?.isWaiting !== true) this.#suspended.delete(running)
    return (
      answer ??
      toError(invalidParams('requestState: no process has the request; begin again without it'))
    )
  }

  /** Sets the log level of a dedicated process. The level of a shared process does not change. */
  #setLogLevel(
    { upstream, era }: RequestTarget,
    { logLevel }: RunningRequest,
  ): Promise<void> | undefined {
    const { process } = this.#deps
    if (logLevel === undefined || process === undefined || era() === 'modern') return undefined
    // Without the level the caller may get fewer log messages; the request still works.
    return upstream.setLoggingLevel(logLevel).catch(() => undefined)
  }

  /**
   * Finds the request that caused a server request. For a dedicated process the newest request is close enough: it has
   * the same caller.
   */
  #causeOf({ call }: ServerRequest): RunningRequest | undefined {
    const exact = call?.requestId === undefined ? undefined : this.#runningFor(call.requestId)
    if (exact !== undefined || this.#deps.process === undefined) return exact
    const waiting = Array.from(this.#waiting.values())
    return waiting.toSorted((one, other) => one.turn - other.turn).at(-1)?.running
  }

  #wait({ id }: McpRequestHead, running: RunningRequest): number {
    return this.#waiting.add({ id, running, turn: this.#turn++ })
  }

  #runningFor(id: string): RunningRequest | undefined {
    return this.#waiting.values().find((each) => each.id === id)?.running
  }

  #log(
    { level, logger, data, isOutsideCalls }: Extract<ServerRequest, { kind: 'log' }>,
    cause: RunningRequest | undefined,
  ): void {
    const method = 'notifications/message'
    const params = { level, ...(logger === undefined ? {} : { logger }), data }
    const { bus, server, process, hasSession = false, isOfUser = false } = this.#deps
    if (cause !== undefined && (cause.wantsNotices || !hasSession)) {
      if (isWanted(level, cause)) cause.send({ type: 'notice', method }, JSON.stringify(params))
    } else if (process !== undefined) {
      if (isAtLeast(level, this.#sessionLevel)) this.#toSession(method, params)
      // A log message during a call may concern its caller, so no other client gets it.
    } else if (isOutsideCalls && !isOfUser) bus.emit(serverLog, {}, { server, ...params })
  }

  #toSession(method: string, params: object, ask?: string): void {
    const { bus, server, process, hasSession = false } = this.#deps
    if (!hasSession || process === undefined) return
    const message = { server, method, params: { ...params }, ...(ask === undefined ? {} : { ask }) }
    bus.emit(clientMessage, { client: process }, message)
  }

  async #ask(
    running: RunningRequest,
    method: string,
    params: unknown,
    withdrawn?: AbortSignal,
  ): Promise<unknown> {
    const { era, capabilities, suspended, cancelled, wantsNotices } = running
    running.hasAsked = true
    checkCapability(capabilities, method, params)
    const over = toAbortSignal(cancelled)
    const signal = withdrawn === undefined ? over : AbortSignal.any([withdrawn, over])
    if (era === 'legacy') {
      // A caller without notices waits only for its answer.
      if (!wantsNotices) throw new ClientRefusal(refused(method))
      return this.#askLegacy(running, method, params, signal)
    }
    // Callers of a shared process cannot be asked to retry.
    if (suspended === undefined) throw new ClientRefusal(refused(method))
    // The time limit applies to each round of input.
    using question = suspended.ask({ method, params })
    return await this.#questions.ask(
      (ask) => {
        question.onAnswer = (result) => this.#questions.answer(ask, undefined, { result })
      },
      { signal },
    )
  }

  async #askLegacy(
    running: RunningRequest,
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { client, send } = running
    const { inputTimeoutMs: limitMs } = this.#deps
    const sendQuestion = (ask: string): void => send({ type: 'ask', ask, method }, toJson(params))
    running.openQuestions += 1
    try {
      return await this.#questions.ask(sendQuestion, { client, signal, limitMs })
    } finally {
      running.openQuestions -= 1
    }
  }
}

function toJson(params: unknown): string {
  return JSON.stringify(params ?? {})
}

const METHODS = {
  sampling: 'sampling/createMessage',
  elicitation: 'elicitation/create',
  roots: 'roots/list',
} as const

/** Whether a caller gets log messages of a level. A legacy client without a level gets all; a modern one gets none. */
function isWanted(level: McpLogLevel, { era, logLevel, wantsNotices }: RunningRequest): boolean {
  if (!wantsNotices) return false
  return logLevel === undefined ? era === 'legacy' : isAtLeast(level, logLevel)
}

function isAtLeast(level: McpLogLevel, least: McpLogLevel = 'debug'): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
}
