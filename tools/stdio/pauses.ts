import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 100
const LONGEST_MS = 3_000
/** What went well for so long begins anew. */
const SETTLED_MS = 10_000

/** Pauses between attempts, each twice as long as the one before. */
export class Pauses {
  #count = 0
  #endedAt = performance.now()

  /** Throws when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#endedAt > SETTLED_MS) this.#count = 0
    await delay(Math.min(FIRST_MS * 2 ** this.#count++, LONGEST_MS), undefined, { signal })
    this.#endedAt = performance.now()
  }
}
