/** Messages that may come at once, as when an app starts. */
const BURST = 300
/** Messages per second for a long time: more than one for each frame of a screen. */
const PER_SECOND = 100

/** Limits the messages of an app. */
export class MessageRate {
  #left = BURST
  #since: number | undefined

  /** Counts a message at a time in milliseconds. Returns whether it is within the limit. */
  take(now: number): boolean {
    const elapsedMs = now - (this.#since ?? now)
    this.#since = now
    this.#left = Math.min(BURST, this.#left + (elapsedMs * PER_SECOND) / 1_000) - 1
    return this.#left >= 0
  }
}
