/** The longest delay of a timer, about 24.8 days; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** A signal that aborts after `ms`, which may be a fraction or exceed `MAX_TIMER_MS`. */
export function timeLimit(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(Math.min(Math.max(ms, 0), MAX_TIMER_MS)))
}
