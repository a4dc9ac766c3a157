import type { CancelSignal } from '../async/cancellation.ts'
import {
  type JSONRPCMessage,
  type Progress,
  SdkErrorCode,
  SdkHttpError,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import * as z from 'zod'

import { type Mask, maskError } from '../process/mask-secrets.ts'
import { MAX_TIMER_MS } from '../config/time-limit.ts'
import { SlotMap } from '../async/slot-map.ts'
import { UnsentError } from '../transport/unsent-error.ts'
import { type ErrorBody, RpcError } from '../errors/rpc-error.ts'
import { tidyError } from './tidy-message.ts'

/** The first request id; the SDK's client counts from 0 on the same connection. */
const FIRST_ID = 1_000_000_000

/** A limit passed without an answer; the server was told that the request is cancelled. */
export class RpcTimeout extends Error {
  override readonly name = 'RpcTimeout'
  /** The limit that passed, in milliseconds. */
  readonly limitMs: number

  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/** The connection ended, or the request's own stream did, before the answer came. */
export class RpcClosed extends Error {
  override readonly name = 'RpcClosed'
}

/** The request could not be handed to the server, as far as is known. */
export class RpcSendError extends Error {
  override readonly name = 'RpcSendError'
  /** Whether the server may have it all the same. */
  readonly mayHaveBegun: boolean

  constructor(
    message: string,
    { cause, mayHaveBegun = !isSurelyUndone(cause) }: { cause: unknown; mayHaveBegun?: boolean },
  ) {
    super(message, { cause })
    this.mayHaveBegun = mayHaveBegun
  }
}

/** The parameters cannot be written as JSON; nothing was sent. */
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
  /** Sent with the request where the transport has headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Send = (message: JSONRPCMessage, options?: TransportSendOptions) => Promise<void>

export interface RpcOptions {
  readonly send: Send
  /** Goes into the `_meta` of every request. */
  readonly meta: () => Readonly<Record<string, unknown>> | undefined
  /** Told what an `onProgress` throws. */
  readonly onListenerError: (error: Error) => void
  /** Takes secrets out of what requests fail with. */
  readonly mask?: Mask | undefined
  /** Whether the answer to each request has a stream of its own, which ends with the request. */
  readonly hasStreams?: boolean
  /** Whether the end of that stream is the cancellation, instead of a notification. */
  readonly cancelsByStream: () => boolean
}

/**
 * Sends concurrent requests to a server over one connection, and parses no more than needed: results are returned as
 * received. It shares the connection with the SDK's client, which does the rest of the protocol; `receive` takes its
 * own responses out of the stream of messages.
 */
export class Rpc {
  readonly #options: RpcOptions
  /** By their ids, which are so much higher. */
  readonly #pending = new SlotMap<Pending>()
  readonly #ofPending: PendingRpc
  #holds = 0
  #closeReason: string | undefined

  constructor(options: RpcOptions) {
    this.#options = options
    this.#ofPending = {
      pending: this.#pending,
      send: options.send,
      cancelsByStream: options.cancelsByStream,
      mask: options.mask,
      isHeld: () => this.#holds > 0,
      tell: (onProgress, progress) => this.#tell(onProgress, progress),
    }
  }

  /** Requests without an answer. */
  get pending(): number {
    return this.#pending.size
  }

  /**
   * Pauses the time limits for silence, since the server waits for the host; they begin again at the release. The
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
    // Requested without a listener, too: progress extends the time limit.
    const wantsProgress = onProgress !== undefined || maxTimeoutMs > timeoutMs
    const perRequest = this.#options.hasStreams === true ? new AbortController() : undefined
    const pending = new Pending(this.#ofPending, options, perRequest)
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
    const notSent = (cause: unknown): void => pending.reject(toSendError(cause, message))
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
      // Some servers give it back as a text.
      const token = Number(progressToken)
      if (!(token >= FIRST_ID)) return false
      // Its shape is checked by its consumer; here it is a sign of life.
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

  /** Ends every request that waits, and each later one. */
  close(reason: string): void {
    this.#closeReason ??= reason
    for (const pending of this.#pending.values()) pending.reject(new RpcClosed(reason))
  }

  #tell(onProgress: (progress: Progress) => unknown, progress: Progress): void {
    const told = async (): Promise<unknown> => onProgress(progress)
    told().catch((error: unknown) => {
      this.#options.onListenerError(new Error('onProgress failed', { cause: error }))
    })
  }

  #withMeta(
    params: Readonly<Record<string, unknown>>,
    progressToken: number | undefined,
  ): Record<string, unknown> {
    const meta = this.#options.meta()
    if (meta === undefined && progressToken === undefined) return params
    const given = params['_meta']
    const own = typeof given === 'object' && given !== null ? given : {}
    const token = progressToken === undefined ? {} : { progressToken }
    return { ...params, _meta: { ...meta, ...own, ...token } }
  }
}

/** A request without an answer. One object with methods: as many closures would take several times its memory. */
class Pending {
  readonly id: number
  readonly answered = Promise.withResolvers<unknown>()
  readonly #key: number
  readonly #rpc: PendingRpc
  readonly #options: RpcRequestOptions
  readonly #endsAt: number
  readonly #perRequest: AbortController | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    rpc: PendingRpc,
    options: RpcRequestOptions,
    perRequest: AbortController | undefined,
  ) {
    const { maxTimeoutMs = options.timeoutMs, signal } = options
    this.#rpc = rpc
    this.#options = options
    this.#perRequest = perRequest
    this.#endsAt = performance.now() + maxTimeoutMs
    this.#key = rpc.pending.add(this)
    this.id = FIRST_ID + this.#key
    signal?.addEventListener('abort', this.#aborted)
    this.arm()
  }

  /** It gave a sign of life: the silence begins anew. */
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
    if (onProgress !== undefined) this.#rpc.tell(onProgress, progress)
  }

  resolve(result: unknown): void {
    this.#settle()
    this.answered.resolve(result)
  }

  reject(error: Error): void {
    this.#settle()
    const { mask } = this.#rpc
    this.answered.reject(mask === undefined ? error : maskError(error, mask))
  }

  #settle(): void {
    clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#aborted)
    this.#rpc.pending.delete(this.#key)
  }

  readonly #timedOut = (limitMs: number): void => {
    if (this.#rpc.isHeld() && performance.now() < this.#endsAt) return this.arm()
    this.reject(new RpcTimeout(limitMs))
    this.#cancel('it took too long')
  }

  readonly #aborted = (): void => {
    this.#settle()
    // It is the caller's, and not to be changed.
    this.answered.reject(this.#options.signal?.reason)
    this.#cancel('the caller cancelled it')
  }

  #cancel(reason: string): void {
    // Stops reading the rest of the response.
    this.#perRequest?.abort()
    if (this.#perRequest !== undefined && this.#rpc.cancelsByStream()) return
    const cancelled = { requestId: this.id, reason }
    this.#rpc
      .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled })
      // A connection that cannot take it is about to be closed, which ends the work as well.
      .catch(() => undefined)
  }
}

/** A request's view of its connection. */
interface PendingRpc {
  readonly pending: SlotMap<Pending>
  readonly send: Send
  readonly cancelsByStream: () => boolean
  readonly mask: Mask | undefined
  /** Whether silence counts against no request. */
  isHeld(): boolean
  tell(onProgress: (progress: Progress) => unknown, progress: Progress): void
}

const SESSION_NOT_FOUND = -32_001
const NO_MESSAGE = { code: -32_603, message: 'its answer is not a message of JSON-RPC' }

/** Others than those of JSON-RPC have no numbers for codes. */
const RpcFailure = z.union([
  z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string() }) }),
  z.looseObject({ jsonrpc: z.literal('2.0'), error: z.unknown() }),
])

/** Converts the error of a message that was not sent, or that was refused. */
function toSendError(cause: unknown, message: JSONRPCMessage): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (!isSerialisable(message)) return new RpcUnsendable(reason, { cause })
  // The SDK's transports check what they receive, and throw here what the answer lacks.
  if (cause instanceof Error && cause.name === 'ZodError') return new RpcError(NO_MESSAGE)
  const text = cause instanceof SdkHttpError ? cause.data['text'] : undefined
  const body = typeof text === 'string' ? parseErrorBody(text) : undefined
  if (body !== undefined && body.code !== SESSION_NOT_FOUND) return new RpcError(body)
  return new RpcSendError(reason, { cause })
}

/** Codes of what fails before there is a connection. */
const UNREACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  SdkErrorCode.NotConnected,
])

/** It never went out, or came back as one that the server does not take. */
function isSurelyUndone(cause: unknown): boolean {
  if (cause instanceof SdkHttpError) {
    const { status } = cause.data
    return status >= 400 && status < 500
  }
  if (!(cause instanceof Error)) return false
  const isUnreached = 'code' in cause && UNREACHED.has(cause.code)
  return isUnreached || cause instanceof UnsentError || isSurelyUndone(cause.cause)
}

function isSerialisable(message: JSONRPCMessage): boolean {
  try {
    JSON.stringify(message)
    return true
  } catch {
    // That it throws is the answer.
    return false
  }
}

/** Some servers send their JSON-RPC errors with the status of an HTTP error. */
function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    return tidyError(RpcFailure.parse(JSON.parse(text)).error)
  } catch {
    // Something else is in the body, as an error page of a proxy.
    return undefined
  }
}
