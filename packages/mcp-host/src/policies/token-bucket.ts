export interface TokenBucketOptions {
  readonly perSecond: number
  /** The number that may be taken at once after a pause. */
  readonly burst: number
  /** In milliseconds, never going back; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** Bounds how often something happens: a token each time, and so many new ones a second. */
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

  /** Takes a token; `false` when there is none. */
  take(): boolean {
    // Most of the time there is one, and no clock has to be read.
    if (this.#tokens < 1) this.#fill()
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  #fill(): void {
    const now = this.#now()
    const more = ((now - this.#filledAt) / 1_000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + more)
    this.#filledAt = now
  }
}
