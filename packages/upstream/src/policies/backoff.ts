export interface BackoffOptions {
  /** The longest first pause, in milliseconds; it doubles with each attempt. */
  readonly firstMs: number
  /** The longest pause, in milliseconds. */
  readonly maxMs: number
  /** A random number from 0 to less than 1; default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** Keeps a first pause of 0 from becoming `0 × ∞`. */
const MAX_DOUBLINGS = 60

/**
 * The delay after a failed attempt, counted from 0, in milliseconds: exponential, with equal jitter. One half is fixed,
 * so that there always is a pause; the other is random, so that many clients do not retry at the same time.
 */
export function backoffMs(
  attempt: number,
  { firstMs, maxMs, random = Math.random }: BackoffOptions,
): number {
  const longest = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, MAX_DOUBLINGS))
  return longest / 2 + (random() * longest) / 2
}
