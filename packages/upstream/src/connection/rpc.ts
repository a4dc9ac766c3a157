import { JsonRpcCode } from '@mcp-host/mcp'
import type { CancelSignal } from '@mcp-host/async'
import {
  type JSONRPCMessage,
  type Progress,
  SdkErrorCode,
  SdkHttpError,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'

import { type Mask, maskError } from '../errors/mask-secrets.ts'
import { MAX_TIMER_MS, SlotMap } from '@mcp-host/async'
import { UnsentError } from '../errors/unsent-error.ts'
import { RpcError } from '../errors/rpc-error.ts'
import { isSessionLost, parseFailure } from './refusal.ts'

/** The first request id; the SDK's client counts from 0 on the same connection. */
const FIRST_ID = 1_000_000_000

/** The error for a request that was cancelled because the server did not answer in time. */
export class RpcTimeout extends Error {
  override readonly name = 'RpcTimeout'
  /** The exceeded limit, in milliseconds. */
  readonly limitMs: number

  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/** The error for a connection, or a stream of the request, that ended before the response. */
export class RpcClosed extends Error {
  override readonly name = 'RpcClosed'
}

/** The error for a request that could not be sent, as far as is known. */
export class RpcSendError extends Error {
  override readonly name = 'RpcSendError'
  /** Whether the server may have received it. */
  readonly mayHaveBegun: boolean
  /** Whether the server does not know the session. */
  readonly isSessionLost: boolean

  constructor(
    message: string,
    {
      cause,
      mayHaveBegun = !isSurelyUndone(cause),
      isSessionLost: isLost = false,
    }: { cause: unknown; mayHaveBegun?: boolean; isSessionLost?: boolean },
  ) {
    super(message, { cause })
    this.mayHaveBegun = mayHaveBegun
    this.isSessionLost = isLost
  }
}

/** The error for parameters that cannot be written as JSON. Nothing was sent. */
export class RpcUnsendable extends Error {
  override readonly name = 'RpcUnsendable'
}

export interface RpcRequestOptions {
  /** Its abort cancels the request at the server; the request then throws the signal's reason. */
  readonly signal?: CancelSignal | undefined
  /** The time limit for silence of the server, in milliseconds. */
  readonly timeoutMs: number
  /** The time limit with progress, in milliseconds; default `timeoutMs`. */
  readonly maxTimeoutMs?: number | undefined
  readonly onProgress?: ((progress: Progress) => unknown) | undefined
  /** Headers of the request, on transports that have headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Send = (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>

export interface RpcOptions {
  readonly send: Send
  /** The common `_meta` of all requests. */
  readonly meta: () => Readonly<Record<string, unknown>> | undefined
  /** Called with an error of an `onProgress`. */
  readonly onListenerError: (error: Error) => void
  /** Masks secrets in the errors of requests. */
  readonly mask?: Mask | undefined
  /** Whether each request has a stream of its own for its response. */
  readonly hasStreams?: boolean
  /** Whether the server keeps a session for the connection, which it can lose. */
  readonly hasSession?: () => boolean
  /** Whether a request is cancelled by the end of that stream, instead of a notification. */
  readonly cancelsByStream: () => boolean
}

/**
 * Sends concurrent requests to a server over one connection; results are returned as received. It shares the connection
 * with the SDK's client, which handles the rest of the protocol; `receive` takes the responses to its requests.
 */
export class Rpc {
  readonly #options: RpcOptions
  /** Pending requests by their id, minus `FIRST_ID`. */
  readonly #pending = new SlotMap<Pending>()
  readonly #context: PendingContext
  #holds = 0
  #closeReason: string | undefined

  constructor(options: RpcOptions) {
    this.#options = options
    this.#context = { options, pending: this.#pending, isHeld: () => this.#holds > 0 }
  }

  /** The number of requests in flight. */
  get pending(): number {
    return this.#pending.size
  }

  /**
   * Pauses the time limits for silence until disposed, while the server waits for the host; then they start again. The
   * limits for whole requests go on.
   */
  hold(): Disposable {
    this.#holds += 1
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1
        for (const pending of this.#pending.values()) pending.arm()
      },
    }
  }

  /**
   * The result as received. Throws `RpcError`, `RpcTimeout`, `RpcClosed`, `RpcSendError`,
   * `RpcUnsendable`, or the reason of the signal's abort.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RpcRequestOptions,
  ): Promise<unknown> {
    const { signal, timeoutMs, maxTimeoutMs = timeoutMs, onProgress, headers } = options
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.#closeReason !== undefined) return Promise.reject(new RpcClosed(this.#closeReason))
    // Also without a listener, since progress extends the time limit.
    const wantsProgress = onProgress !== undefined || maxTimeoutMs > timeoutMs
    const perRequest = this.#options.hasStreams === true ? new AbortController() : undefined
    const pending = new Pending(this.#context, options, perRequest)
    const { id } = pending
    const message = {
      jsonrpc: '2.0' as const,
      id,
      method,
      params: this.#withMeta(params, wantsProgress ? id : undefined),
    }
    const sendOptions: TransportSendOptions = {
      ...(headers === undefined ? {} : { headers }),
      ...(perRequest === undefined ? {} : { requestSignal: perRequest.signal }),
      onRequestStreamEnd: () =>
        pending.reject(new RpcClosed('ended the answer before it was complete')),
    }
    const notSent = (cause: unknown): void =>
      pending.reject(toSendError(cause, message, this.#options.hasSession?.() === true))
    try {
      this.#options.send(message, sendOptions).catch(notSent)
    } catch (cause) {
      notSent(cause)
    }
    return pending.answered.promise
  }

  /** Whether a message is the response to a pending request. */
  awaits(message: JSONRPCMessage): boolean {
    if ('method' in message) return false
    const { id } = message
    return typeof id === 'number' && this.#pending.get(id - FIRST_ID) !== undefined
  }

  /** Takes a message of a pending request; `false` for others. */
  receive(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if (message.method !== 'notifications/progress') return false
      const { progressToken, ...progress } = message.params ?? {}
      // Some servers return it as a string.
      const token = Number(progressToken)
      if (!(token >= FIRST_ID)) return false
      // Consumers check its shape; here it only restarts the time limit.
      this.#pending.get(token - FIRST_ID)?.progressed(progress as Progress)
      return true
    }
    const { id } = message
    if (typeof id !== 'number' || id < FIRST_ID) return false
    const pending = this.#pending.get(id - FIRST_ID)
    // The response to a cancelled or timed-out request is dropped.
    if (pending === undefined) return true
    if ('error' in message) pending.reject(new RpcError(message.error))
    else pending.resolve(message.result)
    return true
  }

  /** Rejects all requests in flight and all later ones. */
  close(reason: string): void {
    this.#closeReason ??= reason
    for (const pending of this.#pending.values()) pending.reject(new RpcClosed(reason))
  }

  #withMeta(
    params: Readonly<Record<string, unknown>>,
    progressToken: number | undefined,
  ): Record<string, unknown> {
    const meta = this.#options.meta()
    if (meta === undefined && progressToken === undefined) return params
    const { _meta } = params
    const own = typeof _meta === 'object' && _meta !== null ? _meta : {}
    const token = progressToken === undefined ? {} : { progressToken }
    return { ...params, _meta: { ...meta, ...own, ...token } }
  }
}

/** A request in flight. An object with methods, since closures would take several times its memory. */
class Pending {
  readonly id: number
  readonly answered = Promise.withResolvers<unknown>()
  readonly #key: number
  readonly #context: PendingContext
  readonly #options: RpcRequestOptions
  readonly #endsAt: number
  readonly #perRequest: AbortController | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    context: PendingContext,
    options: RpcRequestOptions,
    perRequest: AbortController | undefined,
  ) {
    const { maxTimeoutMs = options.timeoutMs, signal } = options
    this.#context = context
    this.#options = options
    this.#perRequest = perRequest
    this.#endsAt = performance.now() + maxTimeoutMs
    this.#key = context.pending.add(this)
    this.id = FIRST_ID + this.#key
    signal?.addEventListener('abort', this.#aborted)
    this.arm()
  }

  /** Restarts the time limit for silence. */
  arm(): void {
    const { timeoutMs, maxTimeoutMs = timeoutMs } = this.#options
    clearTimeout(this.#timer)
    const restMs = this.#endsAt - performance.now()
    const isLast = restMs < timeoutMs
    const limitMs = Math.max(0, Math.min(timeoutMs, restMs, MAX_TIMER_MS))
    this.#timer = setTimeout(this.#timedOut, limitMs, isLast ? maxTimeoutMs : timeoutMs)
  }

  progressed(progress: Progress): void {
    this.arm()
    const { onProgress } = this.#options
    if (onProgress === undefined) return
    const call = async (): Promise<unknown> => onProgress(progress)
    call().catch((error: unknown) => {
      const { onListenerError } = this.#context.options
      onListenerError(new Error('onProgress failed', { cause: error }))
    })
  }

  resolve(result: unknown): void {
    this.#settle()
    this.answered.resolve(result)
  }

  reject(error: Error): void {
    this.#settle()
    const { mask } = this.#context.options
    this.answered.reject(mask === undefined ? error : maskError(error, mask))
  }

  #settle(): void {
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#aborted)
    this.#context.pending.delete(this.#key)
  }

  readonly #timedOut = (limitMs: number): void => {
    if (this.#context.isHeld() && performance.now() < this.#endsAt) return this.arm()
    this.reject(new RpcTimeout(limitMs))
    this.#cancel('it took too long')
  }

  readonly #aborted = (): void => {
    this.#settle()
    // Not masked, since the reason belongs to the caller.
    this.answered.reject(this.#options.signal?.reason)
    this.#cancel('the caller cancelled it')
  }

  #cancel(reason: string): void {
    // Stops reading the rest of the response.
    this.#perRequest?.abort()
    const { send, cancelsByStream } = this.#context.options
    if (this.#perRequest !== undefined && cancelsByStream()) return
    const params = { requestId: this.id, reason }
    // When the connection cannot send, it is about to be closed, which ends the request as well.
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined)
  }
}

interface PendingContext {
  readonly options: RpcOptions
  readonly pending: SlotMap<Pending>
  /** Whether the time limits for silence are paused. */
  isHeld(): boolean
}

const NO_MESSAGE = {
  code: JsonRpcCode.internal,
  message: 'its answer is not a message of JSON-RPC',
}

/** Converts the error of a message that was not sent or was refused. */
function toSendError(cause: unknown, message: { readonly id: number }, hasSession: boolean): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!isSerialisable(message)) return new RpcUnsendable(reason, { cause })
  // The SDK's transports validate responses and throw the issues here.
  if (cause instanceof Error && cause.name === 'ZodError') return new RpcError(NO_MESSAGE)
  if (!(cause instanceof SdkHttpError)) return new RpcSendError(reason, { cause })
  const { status, text } = cause.data
  const body = typeof text === 'string' ? text : ''
  if (hasSession && isSessionLost({ status, body }, message.id)) {
    return new RpcSendError(reason, { cause, isSessionLost: true })
  }
  const failure = parseFailure(body)
  return failure === undefined ? new RpcSendError(reason, { cause }) : new RpcError(failure.error)
}

/** Codes of failures before there is a connection. */
const UNREACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  SdkErrorCode.NotConnected,
])

/** Whether the request certainly had no effect: it was not sent, or the server refused it. */
function isSurelyUndone(cause: unknown): boolean {
  if (cause instanceof SdkHttpError) {
    const { status } = cause.data
    return status >= 400 && status < 500
  }
  if (!(cause instanceof Error)) return false
  const isUnreached = 'code' in cause && UNREACHED.has(cause.code)
  return isUnreached || cause instanceof UnsentError || isSurelyUndone(cause.cause)
}

function isSerialisable(message: object): boolean {
  try {
    JSON.stringify(message)
    return true
  } catch {
    // The result is that it cannot be serialised.
    return false
  }
}
