import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Sustained rate of bodies: a share of the CPU that leaves room for other requests. */
const BYTES_PER_MS = 8 * 1024
/** What accumulates while nothing is read, so that a single upload of the largest file is not slowed down. */
const MAX_SAVED = 24 * 1024 * 1024
/** The same limit while several connections wait, so that their reads are spread evenly. */
const MAX_SAVED_BY_MANY = 64 * 1024

interface Read {
  readonly bytes: number
  readonly done: () => void
}

/**
 * Shares out the reading of large bodies and messages, or of files: one read per turn of the event loop, up to a rate.
 * Owners take turns, so that the connections of one do not put off those of others.
 */
export class ReadBudget {
  readonly #bytesPerMs: number
  #left = MAX_SAVED
  #filledAt = performance.now()
  #waiting = 0
  /** Reads whose turn is to come, by owner. The owner that comes next is the first. */
  readonly #reads = new Map<string, Read[]>()

  constructor(bytesPerMs = BYTES_PER_MS) {
    this.#bytesPerMs = bytesPerMs
  }

  /** Counts bytes that were or will be read. Resolves when their connection may read on. */
  turn(bytes: number, owner: string): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const reads = this.#reads.get(owner) ?? []
    reads.push({ bytes, done })
    this.#reads.set(owner, reads)
    this.#waiting += 1
    // Not at once: reads that come together are spread.
    if (this.#waiting === 1) queueMicrotask(() => void this.#run())
    return promise
  }

  async #run(): Promise<void> {
    for (let [next] = this.#reads; next !== undefined; [next] = this.#reads) {
      const [owner, [read, ...later]] = next
      this.#reads.delete(owner)
      if (later.length > 0) this.#reads.set(owner, later)
      await this.#wait(read?.bytes ?? 0)
      this.#waiting -= 1
      read?.done()
    }
  }

  async #wait(bytes: number): Promise<void> {
    const now = performance.now()
    const maxSaved = this.#waiting > 1 ? MAX_SAVED_BY_MANY : MAX_SAVED
    this.#left = Math.min(maxSaved, this.#left - bytes + (now - this.#filledAt) * this.#bytesPerMs)
    this.#filledAt = now
    if (this.#left < 0) await delay(-this.#left / this.#bytesPerMs)
    // Several timers may end in one turn.
    await nextTurn()
  }
}
