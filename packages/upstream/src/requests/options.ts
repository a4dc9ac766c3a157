import type { CancelSignal } from '@mcp-host/async'
import type { Progress } from '@modelcontextprotocol/client'

import type { CallPriority } from '../policies/call-queue.ts'

/** A class of errors, or a JSON-RPC error code of the server. */
export type RetryableErrorCode = 'server-unavailable' | 'timeout' | 'protocol' | number

export interface RetryOptions {
  /** Retries after the first attempt; default 3. */
  readonly maxRetries?: number
  /** The pause before the first retry, which doubles with each one, in milliseconds; default 1,000. */
  readonly delayMs?: number
  /** The longest pause, in milliseconds; default 30,000. */
  readonly maxDelayMs?: number
  /** The errors after which the request is retried; default: `server-unavailable`. */
  readonly retryableErrorCodes?: readonly RetryableErrorCode[]
  /**
   * Whether the request may take effect twice. Otherwise a request that may have begun is repeated only if the server
   * declares its tool repeatable.
   */
  readonly isSafeToRepeat?: boolean
}

export interface RequestOptions {
  /** Its abort cancels the request at the server; the request then throws the signal's reason. */
  readonly signal?: CancelSignal | undefined
  /**
   * The time limit for silence of the server, in milliseconds. Default: that of the server, otherwise that of the host.
   * Without `maxTimeoutMs` it also limits the whole request.
   */
  readonly timeoutMs?: number
  /** The time limit for the whole request with progress, in milliseconds. */
  readonly maxTimeoutMs?: number
  /** The id of the request in errors, in log lines, and for `MCPHost.abort`. */
  readonly requestId?: string
  /** Added to the log lines of this request. */
  readonly sessionId?: string
  /** Added to the log lines of this request. */
  readonly correlationId?: string
  /** Called with the progress that the server reports. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** The priority when the server is at its limit of concurrent requests; default `normal`. */
  readonly priority?: CallPriority
  /**
   * Retries of a failed request. Default: 3 when repeating is safe (reads, and tools that their server declares
   * read-only or idempotent); otherwise 1, if the request has certainly not begun and the server is back within 5 s.
   * `false`: no retry.
   */
  readonly retry?: RetryOptions | false
  /** Sent in the request's `_meta`, for example a trace context. */
  readonly meta?: Readonly<Record<string, unknown>>
}

export interface CallToolOptions extends RequestOptions {
  /** Throw a tool's own error (`isError`) as `ToolExecutionError`. By default it is a result. */
  readonly throwToolErrors?: boolean
  /**
   * Return a result that asks for input (`resultType: "input_required"`, revision 2026-07-28), instead of asking the
   * callback. The call is then repeated with `input`.
   */
  readonly allowInputRequired?: boolean
  /** The answers to an earlier result that asked for input, with the state from that result. */
  readonly input?: {
    readonly inputResponses?: Readonly<Record<string, unknown>>
    readonly requestState?: string
  }
}

export type ForwardOptions = RequestOptions & Pick<CallToolOptions, 'allowInputRequired'>

export interface CacheableOptions extends RequestOptions {
  /** `use` a fresh result (default), `refresh` it, or `bypass` the cache. */
  readonly cache?: 'use' | 'refresh' | 'bypass'
}
