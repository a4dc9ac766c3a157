import type { CancelSignal } from '../async/cancellation.ts'
import type { Progress } from '@modelcontextprotocol/client'

import type { CallPriority } from '../policies/call-queue.ts'

/** A class of errors, or a JSON-RPC error code of the server. */
export type RetryableErrorCode = 'server-unavailable' | 'timeout' | 'protocol' | number

export interface RetryOptions {
  /** Retries after the first attempt; default 3. */
  readonly maxRetries?: number
  /** The pause before the first retry, which doubles with each one, in milliseconds; default 1,000. */
  readonly delayMs?: number
  /** No pause is longer, in milliseconds; default 30,000. */
  readonly maxDelayMs?: number
  /** Which errors are tried again; default: `server-unavailable`. */
  readonly retryableErrorCodes?: readonly RetryableErrorCode[]
  /**
   * Says that the request may take effect twice. Otherwise one that may have begun is repeated only
   * where the server says the same of its tool.
   */
  readonly isSafeToRepeat?: boolean
}

export interface RequestOptions {
  /** Its abort cancels the request at the server; the request then throws the signal's reason. */
  readonly signal?: CancelSignal | undefined
  /**
   * The time limit for silence of the server, in milliseconds; default: that of the server, else of the host. Without
   * `maxTimeoutMs` it also limits the whole request.
   */
  readonly timeoutMs?: number
  /** The time limit for the whole request with progress, in milliseconds. */
  readonly maxTimeoutMs?: number
  /** Goes with the errors and log lines of this request; `MCPHost.abort` knows it by this. */
  readonly requestId?: string
  /** Go with the log lines of this request, to find it among those of other programs. */
  readonly sessionId?: string
  readonly correlationId?: string
  /** Told what the server reports on the way. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** The priority when the server is at its limit of concurrent requests; default `normal`. */
  readonly priority?: CallPriority
  /**
   * Retries of a failed request. Default: 3 where repeating is safe (reads, and tools that their server declares
   * read-only or idempotent); otherwise 1, if the request has certainly not begun and the server is back within 5 s.
   * `false`: none.
   */
  readonly retry?: RetryOptions | false
  /** Goes to the server in the request's `_meta`, for example a trace context. */
  readonly meta?: Readonly<Record<string, unknown>>
}

export interface CallToolOptions extends RequestOptions {
  /** Throw a tool's own error (`isError`) as `ToolExecutionError`; default: it is a result. */
  readonly throwToolErrors?: boolean
  /**
   * Hand over a result that asks for input (`resultType: "input_required"`, revision 2026-07-28)
   * instead of asking the callback; the call is then made again with `input`.
   */
  readonly allowInputRequired?: boolean
  /** The answers to an earlier result that asked for input, with the state that came with it. */
  readonly input?: {
    readonly inputResponses?: Readonly<Record<string, unknown>>
    readonly requestState?: string
  }
}

export type ForwardOptions = RequestOptions & Pick<CallToolOptions, 'allowInputRequired'>

export interface CacheableOptions extends RequestOptions {
  /** `use` what is fresh (default), `refresh` it, or `bypass` the cache altogether. */
  readonly cache?: 'use' | 'refresh' | 'bypass'
}
