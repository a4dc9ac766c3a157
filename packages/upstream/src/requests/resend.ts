import { isLoginNeeded } from '../auth/oauth/login-needed-error.ts'
import { ProtocolError } from '../errors/protocol-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { TimeoutError } from '../errors/timeout-error.ts'
import type { RequestOptions, RetryableErrorCode } from './options.ts'
import type { CancelSignal } from '@mcp-host/async'
import { pause } from '@mcp-host/async'
import type { Logger } from '@mcp-host/process'
import { backoffMs } from '../policies/backoff.ts'

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
  if (isLoginNeeded(error)) return false
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

export interface ResendDeps {
  readonly logger: Logger
  /** Whether the server is ready, or is being restarted. */
  readonly mayComeBack: () => boolean
  /** Whether the server is ready, or becomes ready within `limitMs` by a restart. */
  readonly comesBack: (limitMs: number, signal?: CancelSignal) => Promise<boolean>
  /** Called when a request is about to be sent once more. */
  readonly onRetry?: (() => void) | undefined
}

/** A request that failed at first. */
export interface FailedRequest {
  readonly subject: string
  readonly options: RequestOptions
  readonly policy: RetryPolicy
  /** The time limit for the answer, in milliseconds. */
  readonly timeoutMs: number
  readonly error: unknown
}

/** Sends a failed request again while its policy allows it. Throws its last error. */
export async function resend<Result>(
  deps: ResendDeps,
  { subject, options, policy, timeoutMs, error }: FailedRequest,
  send: () => Promise<Result>,
): Promise<Result> {
  const { signal } = options
  const failedAt = performance.now()
  let last = error
  for (let retries = 0; retries < policy.maxRetries && mayRetry(last, policy); retries += 1) {
    const isBack = await waitToResend(deps, retries, { policy, timeoutMs, signal })
    signal?.throwIfAborted()
    if (!isBack) break
    deps.onRetry?.()
    try {
      const result = await send()
      logRecovery(deps.logger, subject, options, performance.now() - failedAt)
      return result
    } catch (next) {
      last = next
    }
  }
  throw last
}

/** Pauses, and waits for a restart; `false` when there will be none. */
async function waitToResend(
  { mayComeBack, comesBack }: ResendDeps,
  retries: number,
  {
    policy,
    timeoutMs,
    signal,
  }: Pick<FailedRequest, 'policy' | 'timeoutMs'> & {
    readonly signal: CancelSignal | undefined
  },
): Promise<boolean> {
  if (!mayComeBack()) return false
  await pause(backoffMs(retries, { firstMs: policy.delayMs, maxMs: policy.maxDelayMs }), signal)
  return comesBack(Math.min(timeoutMs, policy.patienceMs), signal)
}

/** Says that a request succeeded although its connection, or an instance of its server, failed. */
export function logRecovery(
  logger: Logger,
  subject: string | undefined,
  { requestId, sessionId, correlationId }: RequestOptions,
  afterMs: number,
): void {
  const request = { subject, requestId, sessionId, correlationId, afterMs: Math.round(afterMs) }
  const fields = { action: 'recovered', recoveredBy: 'connection', ...request }
  logger.info(fields, 'a failed request was sent again and succeeded')
}
