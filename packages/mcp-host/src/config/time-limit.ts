/** Timers hold no more than this; a longer limit would fire at once. About 24.8 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Aborts after `ms`; a fraction, and more than a timer can hold, are limits too. */
export function timeLimit(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(Math.min(Math.max(ms, 0), MAX_TIMER_MS)))
}
