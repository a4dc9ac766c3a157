import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Sustained rate: a share of the CPU that leaves room for other requests. */
const BYTES_PER_MS = 8 * 1024
/** What accumulates while nothing is read, so that a single upload of the largest file is not slowed down. */
const MAX_SAVED = 24 * 1024 * 1024
/** The same limit while several connections wait, so that their reads are spread evenly. */
const MAX_SAVED_BY_MANY = 64 * 1024

/** Shares out the reading of large bodies and messages: one read per turn of the event loop, in order, up to a rate. */
export class ReadBudget {
  #left = MAX_SAVED
  #filledAt = performance.now()
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  /** Counts bytes that were read. Resolves when their connection may be read again. */
  async turn(bytes: number): Promise<void> {
    this.#left -= bytes
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#wait())
    return this.#last
  }

  async #wait(): Promise<void> {
    const now = performance.now()
    const maxSaved = this.#waiting > 1 ? MAX_SAVED_BY_MANY : MAX_SAVED
    this.#left = Math.min(maxSaved, this.#left + (now - this.#filledAt) * BYTES_PER_MS)
    this.#filledAt = now
    await (this.#left > 0 ? nextTurn() : delay(-this.#left / BYTES_PER_MS))
    this.#waiting -= 1
  }
}
