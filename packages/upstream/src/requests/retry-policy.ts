import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'
import type { RequestOptions, RetryableErrorCode } from './options.ts'

export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly maxRetries: number
  readonly delayMs: number
  readonly maxDelayMs: number
  readonly retryableErrorCodes: readonly RetryableErrorCode[]
  /** The time limit for the server's return, in milliseconds. */
  readonly patienceMs: number
  /** Whether the request may be repeated although it may have taken effect. */
  readonly isSafeToRepeat: boolean
}

const DEFAULTS = {
  maxRetries: 3,
  delayMs: 1000,
  maxDelayMs: 30_000,
  retryableErrorCodes: ['server-unavailable'] as const,
  patienceMs: Infinity,
}
const SAFE: RetryPolicy = { ...DEFAULTS, isSafeToRepeat: true }
const NONE: RetryPolicy = { ...DEFAULTS, maxRetries: 0, isSafeToRepeat: false }
/** Requests that must not be repeated: one retry, if the first attempt surely has not begun. */
const ONCE_MORE: RetryPolicy = { ...NONE, maxRetries: 1, delayMs: 200, patienceMs: 5000 }

/**
 * The retry policy of a request. `isDeclaredSafe`: its server, or its method, declares it repeatable. Throws
 * `RangeError` for an invalid number.
 */
export function retryPolicy(
  { retry }: Pick<RequestOptions, 'retry'>,
  isDeclaredSafe: boolean,
): RetryPolicy {
  if (retry === undefined) return isDeclaredSafe ? SAFE : ONCE_MORE
  if (retry === false) return NONE
  const { isSafeToRepeat = isDeclaredSafe, ...given } = retry
  const policy = { ...DEFAULTS, ...given, isSafeToRepeat }
  for (const field of ['maxRetries', 'delayMs', 'maxDelayMs'] as const) {
    if (!(policy[field] >= 0)) throw new RangeError(`retry.${field} must be a number, at least 0`)
  }
  return policy
}

/** Whether a request may be retried after this error. */
export function mayRetry(error: unknown, policy: RetryPolicy): boolean {
  if (!codesOf(error).some((code) => policy.retryableErrorCodes.includes(code))) return false
  if (!(error instanceof ServerUnavailableError)) return policy.isSafeToRepeat
  // An open circuit or a full queue says when to try again.
  if (error.retryAfterMs !== undefined) return false
  return policy.isSafeToRepeat || !error.isOutcomeUnknown
}

function codesOf(error: unknown): readonly RetryableErrorCode[] {
  if (error instanceof ServerUnavailableError || error instanceof TimeoutError) return [error.code]
  if (!(error instanceof ProtocolError)) return []
  return [error.code, ...(error.rpcCode === undefined ? [] : [error.rpcCode])]
}
