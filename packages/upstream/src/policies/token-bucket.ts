export interface TokenBucketOptions {
  readonly perSecond: number
  /** The number of tokens that may be taken at once after a pause. */
  readonly burst: number
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** A rate limit: each event takes a token, and a number of tokens is added each second. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #burst: number
  readonly #now: () => number
  #tokens: number
  #filledAt: number

  constructor({ perSecond, burst, now = () => performance.now() }: TokenBucketOptions) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#now = now
    this.#tokens = burst
    this.#filledAt = now()
  }

  /** Takes tokens, by default one; `false` when there are not enough, and none is taken. */
  take(count = 1): boolean {
    // The clock is read only when too few are left.
    if (this.#tokens < count) this.#fill()
    if (this.#tokens < count) return false
    this.#tokens -= count
    return true
  }

  #fill(): void {
    const now = this.#now()
    const more = ((now - this.#filledAt) / 1_000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + more)
    this.#filledAt = now
  }
}
