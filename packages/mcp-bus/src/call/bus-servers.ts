import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus, Frame, StoredBlob } from '@mcp-host/bus'
import type { McpRequestHead, McpReplyHead } from '@mcp-host/contracts'
import {
  BusError,
  clientMessage,
  newEnvelope,
  mcpClientRequest,
  mcpRequestControl,
  mcpRequest,
  resourceUpdated,
  resumeRequest,
  serverLog,
  WATCH_MS,
  watchClientResources,
  watchResources,
} from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import {
  type ServerReply,
  type OutgoingRequest,
  MOVED,
  type OnRecovered,
  type ResumedRequest,
  type ResumePoint,
  type ServerLog,
  type ServerMessage,
  type Servers,
  type WatchRequest,
} from '@mcp-host/mcp-endpoint'
import { isAnySilent } from './is-any-silent.ts'
import { isTooLarge, processOf, toBody } from './request-body.ts'
import { PendingRequest } from './pending-request.ts'
import {
  GONE,
  GONE_AGAIN,
  removed,
  STOPPED_ANSWERING,
  toFault,
  unknownOutcome,
} from './request-faults.ts'

/** The time for which a request waits for a supervisor with its server. */
const PATIENCE_MS = 5_000
/** The same while supervisors are there: one of them takes the server over, and may have to start it. */
const TAKE_OVER_MS = 20_000
const RETRY_MS = 100
/** The time after an outage of the broker in which a request and its repetition may lose their answers. */
const STEADY_MS = 30_000

/** The delay before a watch that failed or expired is tried again. */
const WATCH_AGAIN_MS = WATCH_MS / 3
const WATCH_TIMEOUT_MS = 10_000

type UpstreamBus = Pick<
  Bus,
  'id' | 'callOpaque' | 'call' | 'emit' | 'listen' | 'blobs' | 'sinceOutageMs'
>

export interface BusServersDeps {
  readonly bus: UpstreamBus
  /** Whether an absent server may return. */
  readonly isConfigured: (server: string) => boolean
  /** The present supervisors. */
  readonly supervisors: () => Iterable<string>
  /** Called when a second supervisor has died with a request. */
  readonly pauseServer: (server: string) => void
  readonly onRecovered: OnRecovered
}

/** Sends requests over the bus to the supervisors of their servers. */
export class BusServers implements Servers {
  readonly #deps: BusServersDeps
  readonly #logListeners = new Set<(log: ServerLog) => void>()
  /** Set while there are listeners. */
  #logs: Disposable | undefined
  #count = 0

  constructor(deps: BusServersDeps) {
    this.#deps = deps
  }

  async send(server: string, request: OutgoingRequest): Promise<ServerReply> {
    const {
      method,
      params,
      era,
      listener,
      isResumable,
      client,
      isOwn,
      signal,
      traceparent,
      caller,
    } = request
    const id = `${this.#deps.bus.id}-${this.#count++}`
    const head: McpRequestHead = { method, id, era }
    if (listener !== undefined) head.progress = true
    if (isResumable === true) head.isResumable = true
    if (client !== undefined) head.client = client
    if (era === 'legacy' && request.isOutputWrapped === true) head.isOutputWrapped = true
    if (request.confirm !== undefined) {
      head.confirm = request.confirm
      head.isDecidedAgain = true
    }
    const process = isOwn === true ? processOf(params, client) : undefined
    const body = toBody(params)
    const stored = isTooLarge(body) ? await this.#store(server, body) : undefined
    if (stored !== undefined) {
      head.stored = stored.key
      head.digest = stored.digest
    }
    const question = { head, body: stored === undefined ? body : '', process }
    const call = new PendingRequest(this.#deps.bus, {
      server,
      id,
      listener,
      signal,
      traceparent,
      caller,
    })
    try {
      let answer: Frame<McpReplyHead>
      try {
        answer = await this.#find(call, question)
      } catch (error) {
        answer = await this.#askAgain(call, question, request, error)
      }
      const reply = this.#replyOf(call, answer)
      return reply instanceof Promise ? await reply : reply
    } finally {
      call.end()
      if (stored !== undefined) this.#deps.bus.blobs.remove(stored.key).catch(() => undefined)
    }
  }

  async resume(
    kept: ResumePoint,
    { client, after, ...request }: ResumedRequest,
  ): Promise<ServerReply> {
    const call = new PendingRequest(this.#deps.bus, { ...kept, ...request })
    call.kept = kept
    call.number = after
    // A made-up id must not end the request of another client.
    call.isOurs = false
    try {
      const answer = await this.#takeUp(call, kept, client, PATIENCE_MS)
      if (answer === undefined) throw unknownOutcome(call.server, GONE)
      return await this.#replyOf(call, answer)
    } finally {
      call.end()
    }
  }

  answer(ask: string, client: string, { result, error }: Readonly<Record<string, unknown>>): void {
    // The id begins with its server; a forged id matches no question.
    const [, server] = /^([A-Za-z0-9_-]+)\.[0-9a-f-]+$/.exec(ask) ?? []
    if (server === undefined) return
    const said = { ...(isObject(result) ? { result } : {}), ...(isError(error) ? { error } : {}) }
    this.#deps.bus.emit(mcpRequestControl, { server }, { action: 'answer', ask, client, ...said })
  }

  tell(server: string, client: string, action: 'roots-changed' | 'leave'): void {
    this.#deps.bus.emit(mcpRequestControl, { server }, { action, client })
  }

  watch(server: string, { uris, client, onUpdated }: WatchRequest): Disposable {
    const stack = new DisposableStack()
    stack.use(
      this.#deps.bus.listen(resourceUpdated, { server }, ({ uri, client: meant }) => {
        if (meant === client) onUpdated(uri)
      }),
    )
    // The watch is repeated, since another supervisor may get the server.
    const watch = (): void => void this.#watch(server, uris, client).catch(() => undefined)
    const again = setInterval(watch, WATCH_AGAIN_MS)
    stack.defer(() => clearInterval(again))
    watch()
    return stack
  }

  listen(client: string, listener: (message: ServerMessage) => void): Disposable {
    return this.#deps.bus.listen(clientMessage, { client }, listener)
  }

  onLog(listener: (log: ServerLog) => void): Disposable {
    // One listener for all sessions, which may be thousands.
    this.#logs ??= this.#deps.bus.listen(serverLog, {}, ({ server, ...params }) => {
      const log = { server, level: params.level, params }
      for (const each of this.#logListeners) each(log)
    })
    this.#logListeners.add(listener)
    return {
      [Symbol.dispose]: () => {
        this.#logListeners.delete(listener)
        if (this.#logListeners.size > 0) return
        this.#logs?.[Symbol.dispose]()
        this.#logs = undefined
      },
    }
  }

  /** Watches resources at the shared process or, with `client`, at its dedicated process. Does not start a process. */
  async #watch(server: string, uris: readonly string[], client?: string): Promise<void> {
    const request = { uris: [...uris] }
    const options = { envelope: newEnvelope('local'), timeoutMs: WATCH_TIMEOUT_MS }
    if (client === undefined)
      await this.#deps.bus.call(watchResources, { server }, request, options)
    else await this.#deps.bus.call(watchClientResources, { server, client }, request, options)
  }

  /** Stores parameters that are too large for a message of the bus. */
  async #store(server: string, body: string): Promise<StoredBlob> {
    try {
      return await this.#deps.bus.blobs.put(Buffer.from(body))
    } catch (error) {
      throw toFault(error, server)
    }
  }

  #replyOf(
    call: PendingRequest,
    { head, body }: Frame<McpReplyHead>,
  ): ServerReply | Promise<ServerReply> {
    if (head.type === 'moved') throw MOVED
    if (head.type === 'error') return { type: 'error', json: body, code: head.code }
    const hasLinks = 'hasLinks' in head && head.hasLinks === true
    if (head.type === 'stored') return this.#stored(call, head, hasLinks)
    const isRefused = head.type === 'result' && head.isRefused === true
    return { type: 'result', json: body, hasLinks, isRefused }
  }

  async #stored(
    call: PendingRequest,
    { key, digest }: Extract<McpReplyHead, { type: 'stored' }>,
    hasLinks: boolean,
  ): Promise<ServerReply> {
    try {
      return { type: 'result', json: await this.#deps.bus.blobs.get(key, { digest }), hasLinks }
    } catch (error) {
      const why = `its result cannot be read: ${BusError.from(error).message}`
      throw unknownOutcome(call.server, why)
    } finally {
      call.forget(key)
    }
  }

  /**
   * Retries until a supervisor takes the request. After that it retries once, if the request is read-only and that
   * supervisor is dead. `error`: the first failure.
   */
  async #askAgain(
    call: PendingRequest,
    question: Question,
    { client, isReadOnly }: OutgoingRequest,
    error: unknown,
  ): Promise<Frame<McpReplyHead>> {
    const { server } = call
    const failedAt = performance.now()
    let recoveredBy: Parameters<OnRecovered>[0] = 'placement'
    const recovered = ({ head }: Frame<McpReplyHead>, by: typeof recoveredBy): void => {
      if (head.type !== 'result' && head.type !== 'stored') return
      this.#deps.onRecovered(by, { server, afterMs: performance.now() - failedAt })
    }
    let mayRepeat = isReadOnly === true
    let failure = error
    for (;;) {
      call.checkCaller()
      const { code } = BusError.from(failure)
      const { kept } = call
      if (code === 'unavailable' && !this.#deps.isConfigured(call.server))
        throw removed(call.server)
      // Replies may have been lost, including the answer.
      if (code === 'deadline' && kept !== undefined && client !== undefined) {
        const answer = await this.#takeUp(call, kept, client.id, 0)
        if (answer !== undefined) {
          recovered(answer, 'bus')
          return answer
        }
      }
      // Without a listener, the request has not begun.
      const [isAnybodyThere] = this.#deps.supervisors()
      const patienceMs = isAnybodyThere === undefined ? PATIENCE_MS : TAKE_OVER_MS
      const mayWait = code === 'unavailable' && performance.now() < failedAt + patienceMs
      const isLost = code === 'deadline' && mayRepeat
      if (code === 'deadline' && isReadOnly === true && !mayRepeat) {
        // After an outage the answers may have been lost instead.
        if (this.#deps.bus.sinceOutageMs() > STEADY_MS) this.#deps.pauseServer(call.server)
        throw unknownOutcome(call.server, GONE_AGAIN)
      }
      if (!mayWait && !isLost) throw toFault(failure, call.server)
      // The request may have frozen its supervisor, and a retry could freeze the next one.
      if (isLost && (await isAnySilent(this.#deps.bus, this.#deps.supervisors()))) {
        throw unknownOutcome(call.server, STOPPED_ANSWERING)
      }
      if (isLost) {
        mayRepeat = false
        recoveredBy = 'bus'
      } else await sleep(RETRY_MS)
      call.checkCaller()
      try {
        const answer = await this.#find(call, question)
        recovered(answer, recoveredBy)
        return answer
      } catch (error_) {
        failure = error_
      }
    }
  }

  /** Calls the dedicated process of the caller if it has one, otherwise any supervisor with the server. */
  #find(call: PendingRequest, question: Question): Promise<Frame<McpReplyHead>> {
    return question.process === undefined
      ? this.#askAnybody(call, question)
      : this.#askOwn(call, question, question.process)
  }

  #askAnybody(call: PendingRequest, question: Question): Promise<Frame<McpReplyHead>> {
    return call.ask((options) =>
      this.#deps.bus.callOpaque(mcpRequest, call, question, options, call),
    )
  }

  async #askOwn(
    call: PendingRequest,
    question: Question,
    client: string,
  ): Promise<Frame<McpReplyHead>> {
    const { server } = call
    try {
      return await call.ask((options) =>
        this.#deps.bus.callOpaque(mcpClientRequest, { server, client }, question, options, call),
      )
    } catch (error) {
      if (BusError.from(error).code !== 'unavailable') throw error
      // The dedicated process does not run.
      return this.#askAnybody(call, question)
    }
  }

  /**
   * Requests the remaining replies from the supervisor that keeps a request. `patienceMs`: the time for which that
   * supervisor may be away. `undefined`: it is gone, or has no replies of the request.
   */
  async #takeUp(
    call: PendingRequest,
    { supervisor }: ResumePoint,
    client: string,
    patienceMs: number,
  ): Promise<Frame<McpReplyHead> | undefined> {
    const { server, id } = call
    let giveUpAt = performance.now() + patienceMs
    for (;;) {
      call.isAny = false
      // The oldest replies may have been evicted.
      call.isWhole = false
      try {
        return await call.ask((options) => {
          const head = { id, client, after: call.number }
          this.#deps.bus.callOpaque(
            resumeRequest,
            { supervisor },
            { head, body: '' },
            options,
            call,
          )
        })
      } catch (error) {
        call.checkCaller()
        if (call.isAny) giveUpAt = performance.now() + PATIENCE_MS
        const { code } = BusError.from(error)
        const isAway = code === 'unavailable' || (code === 'deadline' && call.isAny)
        if (isAway && performance.now() < giveUpAt) await sleep(RETRY_MS)
        else if (isAway || code === 'not-found') return undefined
        else throw toFault(error, server)
        call.checkCaller()
      }
    }
  }
}

interface Question {
  readonly head: McpRequestHead
  readonly body: string
  /** The client whose dedicated process gets the request; `undefined` for the shared process. */
  readonly process: string | undefined
}

function isError(error: unknown): error is { code: number; message: string } {
  return (
    isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  )
}
