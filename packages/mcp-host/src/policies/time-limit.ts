import { MAX_TIMER_MS } from '../connection/rpc.ts'

/** Aborts after `ms`; a fraction, and more than a timer can hold, are limits too. */
export function timeLimit(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(Math.min(Math.max(ms, 0), MAX_TIMER_MS)))
}
