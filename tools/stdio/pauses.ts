import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 100
const LONGEST_MS = 3_000
/** The time without a failure after which the pauses start again from the shortest. */
const SETTLED_MS = 10_000

/** The pauses between attempts, each twice as long as the previous one. */
export class Pauses {
  #count = 0
  #endedAt = performance.now()

  /** Waits. Throws when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#endedAt > SETTLED_MS) this.#count = 0
    await delay(Math.min(FIRST_MS * 2 ** this.#count++, LONGEST_MS), undefined, { signal })
    this.#endedAt = performance.now()
  }
}
