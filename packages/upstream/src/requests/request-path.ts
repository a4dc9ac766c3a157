import { JsonRpcCode } from '@mcp-host/mcp'
import type { CancelSignal } from '@mcp-host/async'
import { Cancellation, InFlight, MAX_TIMER_MS, timeLimit, toAbortSignal } from '@mcp-host/async'
import type { ProtocolClient } from '../connection/protocol-client.ts'
import type { RpcRequestOptions } from '../connection/rpc.ts'
import { RpcClosed, RpcSendError, RpcTimeout } from '../connection/rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'
import type { CallMeter, CallOutcome } from '../metrics/call-meter.ts'
import { type CallQueue, QueueFullError } from '../policies/call-queue.ts'
import type { CircuitBreaker } from '../policies/circuit-breaker.ts'
import { UnsentError } from '../errors/unsent-error.ts'
import type { RequestOptions } from './options.ts'
import { logRecovery, resend, type ResendDeps, type RetryPolicy, retryPolicy } from './resend.ts'
import type { ServerInbox } from './server-inbox.ts'
import type { CausingCall } from './server-request.ts'
import { toRequestError } from './to-request-error.ts'

/** The number of times that a server may ask for input in one request. */
const MAX_INPUT_ROUNDS = 10
const FULL_QUEUE_RETRY_MS = 1000

/** A connected server. A restart creates a new one. */
export interface Live {
  readonly connection: ProtocolClient
  readonly inbox: Pick<ServerInbox, 'begin' | 'end' | 'answerAll'>
  /** Aborted when the connection ends. */
  readonly ended: AbortSignal
}

export interface RequestPathDeps extends ResendDeps {
  readonly queue: CallQueue
  /** The connected server. Throws `ServerUnavailableError`, of this request, while there is none. */
  readonly live: (request: Pick<ErrorContext, 'tool' | 'requestId'>) => Live
  /**
   * Called when the server could not be reached or did not answer in time. Returns `true` when the server has not
   * received the request and is ready again.
   */
  readonly onTrouble: (live: Live, error: RpcTimeout | RpcSendError) => Promise<boolean>
  /** The last lines that the server's process wrote outside of the protocol. */
  readonly lastOutput: () => readonly string[]
  /** Called after each request that was sent, unless its caller cancelled it. */
  readonly onDone?: ((isWell: boolean, durationMs: number) => void) | undefined
}

export interface RequestPathOptions {
  readonly server: string
  /** The time limit for silence, in milliseconds. */
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
}

export interface PathRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** The tool, prompt or resource, for errors and logs. */
  readonly subject: string
  readonly tool?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly isSafeToRepeat: boolean
  /** Return a result that asks for input, instead of providing the input. */
  readonly allowInputRequired?: boolean
  /** The server's circuit breaker, which counts missing responses. */
  readonly breaker: CircuitBreaker
  /** The tool's circuit breaker, which also counts internal errors. */
  readonly toolBreaker?: CircuitBreaker
  readonly meter: CallMeter
  /** Checks the result, usually synchronously. Throws the error for the caller. */
  readonly check: (result: unknown) => void | Promise<void>
}

/** Sends requests to one server: circuit breakers, queue, time limits, requests for input, retries and metrics. */
export class RequestPath {
  readonly #deps: RequestPathDeps
  readonly #options: RequestPathOptions
  readonly #inFlight = new InFlight()

  constructor(deps: RequestPathDeps, options: RequestPathOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** The number of requests in flight, including queued ones. */
  get inFlight(): number {
    return this.#inFlight.count
  }

  /** Resolves once no request is in flight. */
  idle(): Promise<void> {
    return this.#inFlight.idle()
  }

  /** The result as received. Throws this library's errors, or the reason of the signal's abort. */
  run(request: PathRequest, options: RequestOptions): Promise<unknown> {
    const policy = retryPolicy(options, request.isSafeToRepeat)
    const first = this.#once(request, options)
    // Nearly all requests succeed, so this path avoids an async frame.
    return policy.maxRetries > 0
      ? first.catch((error: unknown) => this.#resend(request, options, policy, error))
      : first
  }

  #resend(
    request: PathRequest,
    options: RequestOptions,
    policy: RetryPolicy,
    error: unknown,
  ): Promise<unknown> {
    const { timeoutMs } = this.#limits(options)
    const failed = { subject: request.subject, options, policy, timeoutMs, error }
    return resend(this.#deps, failed, () => this.#once(request, options))
  }

  async #once(request: PathRequest, options: RequestOptions): Promise<unknown> {
    const { meter, breaker, toolBreaker, subject, tool } = request
    const { requestId, sessionId, correlationId, signal } = options
    const context = { server: this.#options.server, tool, requestId }
    const startedAt = performance.now()
    meter.started()
    const inFlight = this.#inFlight.begin()
    let outcome: CallOutcome = 'refused'
    let health: Health = 'unknown'
    let hasEntered = false
    let sentAt: number | undefined
    let isAdmitted = false
    try {
      this.#deps.live(context)
      // An open circuit refuses before the queue. After the queue, the circuit decides which request is the probe.
      if (breaker.state === 'open') this.#enter(breaker, subject, context)
      if (toolBreaker?.state === 'open') this.#enter(toolBreaker, subject, context)
      const admission = this.#admit(subject, context, options)
      if (admission !== undefined) await admission
      isAdmitted = true
      // During the wait, the connection may have ended or a circuit may have opened.
      const live = this.#deps.live(context)
      this.#enter(breaker, subject, context)
      try {
        if (toolBreaker !== undefined) this.#enter(toolBreaker, subject, context)
      } catch (error) {
        breaker.abandoned()
        throw error
      }
      hasEntered = true
      outcome = 'error'
      sentAt = performance.now()
      const result = await this.#exchange(live, request, options)
      health = 'good'
      const checking = request.check(result)
      if (checking !== undefined) await checking
      outcome = 'success'
      return result
    } catch (cause) {
      if (cause instanceof QueueFullError) {
        const message = `${this.#name(subject)}: ${cause.message}`
        const retryAfterMs = FULL_QUEUE_RETRY_MS
        throw new ServerUnavailableError(message, { ...context, cause, retryAfterMs })
      }
      if (signal?.aborted === true) outcome = 'cancelled'
      else if (sentAt !== undefined) health = healthOf(cause)
      throw toRequestError(cause, { ...context, subject, output: this.#deps.lastOutput() })
    } finally {
      if (isAdmitted) this.#deps.queue.leave()
      if (hasEntered) {
        settle(breaker, health === 'faulty' ? 'good' : health)
        if (toolBreaker !== undefined) settle(toolBreaker, health === 'faulty' ? 'bad' : health)
      }
      const endedAt = performance.now()
      if (sentAt !== undefined && outcome !== 'cancelled') {
        this.#deps.onDone?.(health === 'good', endedAt - sentAt)
      }
      const ms = endedAt - startedAt
      meter.ended(outcome, ms)
      inFlight[Symbol.dispose]()
      const durationMs = Math.round(ms * 10) / 10
      this.#deps.logger.debug(
        {
          action: request.method,
          subject,
          requestId,
          sessionId,
          correlationId,
          outcome,
          durationMs,
        },
        'request ended',
      )
    }
  }

  /** Enters the queue; undefined when the request may be sent at once. The wait counts against `maxTimeoutMs`. */
  #admit(subject: string, context: ErrorContext, options: RequestOptions) {
    const { queue } = this.#deps
    if (queue.isFull) return this.#wait(subject, context, options)
    return queue.enter(options.priority ?? 'normal', options.signal)
  }

  async #wait(subject: string, context: ErrorContext, options: RequestOptions): Promise<void> {
    const { signal, priority = 'normal' } = options
    const { maxTimeoutMs } = this.#limits(options)
    const over = new Cancellation()
    const cancel = (): void => over.cancel(signal?.reason)
    const tooLate = (): void => {
      const message = `${this.#name(subject)} did not get its turn within ${maxTimeoutMs} ms`
      over.cancel(new TimeoutError(message, maxTimeoutMs, context))
    }
    const limit = setTimeout(tooLate, Math.min(maxTimeoutMs, MAX_TIMER_MS))
    signal?.addEventListener('abort', cancel)
    try {
      signal?.throwIfAborted()
      await this.#deps.queue.enter(priority, over)
    } finally {
      clearTimeout(limit)
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Sends the request. Whenever the server asks for input, sends it again with the answers. */
  async #exchange(live: Live, request: PathRequest, options: RequestOptions): Promise<unknown> {
    const { signal, requestId, meta } = options
    const call: CausingCall = { requestId, tool: request.tool }
    let params = meta === undefined ? request.params : { ...request.params, _meta: meta }
    const headers = live.connection.hasHeaders ? traced(request.headers, meta) : request.headers
    const limits = this.#limits(options)
    const endsAt = performance.now() + limits.maxTimeoutMs
    for (let round = 0; ; round += 1) {
      const { onProgress } = options
      // Earlier rounds count against the limit.
      const maxTimeoutMs = round === 0 ? limits.maxTimeoutMs : endsAt - performance.now()
      const { timeoutMs } = limits
      const sending = { timeoutMs, maxTimeoutMs, signal, onProgress, headers }
      let result: unknown
      const key = live.inbox.begin(call)
      try {
        result = await live.connection.request(request.method, params, sending)
      } catch (error) {
        const isTrouble = error instanceof RpcTimeout || error instanceof RpcSendError
        if (isTrouble && (await this.#deps.onTrouble(live, error))) {
          const failedAt = performance.now()
          result = await sendAgain(this.#deps.live(call), call, request.method, params, sending)
          logRecovery(this.#deps.logger, request.subject, options, performance.now() - failedAt)
        } else if (round > 0 && error instanceof RpcSendError) {
          // An earlier round has begun the request, so no other instance may begin it.
          throw new RpcSendError(error.message, { cause: error.cause, mayHaveBegun: true })
        } else {
          // For the caller there is one limit for all rounds.
          const isLast = error instanceof RpcTimeout && error.limitMs === maxTimeoutMs
          throw isLast ? new RpcTimeout(limits.maxTimeoutMs) : error
        }
      } finally {
        live.inbox.end(key)
      }
      if (request.allowInputRequired === true || !asksForInput(result, live.connection)) {
        return result
      }
      if (round === MAX_INPUT_ROUNDS) {
        throw new RpcError({ code: JsonRpcCode.internal, message: 'it asks for input without end' })
      }
      const { inputRequests = {}, requestState } = result
      const inputResponses = await this.#answer(live, inputRequests, call, {
        endsAt,
        signal,
        maxTimeoutMs: limits.maxTimeoutMs,
      })
      const state = requestState === undefined ? {} : { requestState }
      params = {
        ...request.params,
        ...(meta === undefined ? {} : { _meta: meta }),
        ...state,
        inputResponses,
      }
    }
  }

  /** Answers the server's requests for input, unless the call is aborted, times out or its connection ends first. */
  async #answer(
    live: Live,
    inputRequests: Readonly<Record<string, unknown>>,
    call: CausingCall,
    { endsAt, signal, maxTimeoutMs }: AnswerOptions,
  ): Promise<Record<string, unknown>> {
    const limit = timeLimit(endsAt - performance.now())
    const over = AbortSignal.any([
      limit,
      live.ended,
      ...(signal === undefined ? [] : [toAbortSignal(signal)]),
    ])
    const ended = Promise.withResolvers<never>()
    over.addEventListener('abort', () => ended.reject(over.reason))
    try {
      return await Promise.race([live.inbox.answerAll(inputRequests, call, over), ended.promise])
    } catch (cause) {
      signal?.throwIfAborted()
      if (live.ended.aborted) throw new RpcClosed(live.connection.closeReason)
      if (limit.aborted) throw new RpcTimeout(maxTimeoutMs)
      const { server } = this.#options
      const reason = cause instanceof Error ? cause.message : String(cause)
      const message = `${this.#name(call.tool ?? 'request')} asks for input that cannot be provided: ${reason}`
      throw new ProtocolError(message, undefined, { server, ...call, cause })
    }
  }

  #limits({ timeoutMs, maxTimeoutMs }: RequestOptions): {
    timeoutMs: number
    maxTimeoutMs: number
  } {
    const limit = timeoutMs ?? this.#options.timeoutMs
    const most = maxTimeoutMs ?? (timeoutMs === undefined ? this.#options.maxTimeoutMs : timeoutMs)
    return { timeoutMs: Math.min(limit, most), maxTimeoutMs: most }
  }

  #enter(breaker: CircuitBreaker, subject: string, context: ErrorContext): void {
    const entry = breaker.enter()
    if (entry.kind === 'pass') return
    const { retryAfterMs } = entry
    const seconds = Math.ceil(retryAfterMs / 1000)
    const message = `${this.#name(subject)} failed too often; it is tried again in ${seconds} s`
    throw new ServerUnavailableError(message, { ...context, retryAfterMs })
  }

  #name(subject: string): string {
    return `${this.#options.server}.${subject}`
  }
}

async function sendAgain(
  to: Live,
  call: CausingCall,
  method: string,
  params: PathRequest['params'],
  options: RpcRequestOptions,
): Promise<unknown> {
  const key = to.inbox.begin(call)
  try {
    return await to.connection.request(method, params, options)
  } finally {
    to.inbox.end(key)
  }
}

interface AnswerOptions {
  readonly endsAt: number
  readonly maxTimeoutMs: number
  readonly signal: CancelSignal | undefined
}

interface InputRequired {
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly requestState?: string
}

function asksForInput(result: unknown, { era }: ProtocolClient): result is InputRequired {
  return (
    era === 'modern' &&
    typeof result === 'object' &&
    result !== null &&
    'resultType' in result &&
    result.resultType === 'input_required'
  )
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The headers with the trace context of the request, for proxies. */
function traced(
  headers: PathRequest['headers'],
  meta: RequestOptions['meta'],
): PathRequest['headers'] {
  const traceparent = meta?.['traceparent']
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return headers
  return { ...headers, traceparent }
}

/** `faulty`: the server answered with an internal error. */
type Health = 'good' | 'faulty' | 'bad' | 'unknown'

/** The health of the server after a failed request; unknown after the end of a connection, which a restart replaces. */
function healthOf(cause: unknown): Health {
  if (cause instanceof RpcError && cause.code === JsonRpcCode.internal) return 'faulty'
  if (cause instanceof RpcSendError && cause.cause instanceof UnsentError) return 'unknown'
  if (cause instanceof RpcTimeout || cause instanceof RpcSendError) return 'bad'
  return cause instanceof RpcClosed ? 'unknown' : 'good'
}

function settle(breaker: CircuitBreaker, health: Exclude<Health, 'faulty'>): void {
  if (health === 'good') breaker.succeeded()
  else if (health === 'bad') breaker.failed()
  else breaker.abandoned()
}
