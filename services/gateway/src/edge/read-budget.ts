/** Sustained rate for all large bodies and frames together: a share of the CPU that leaves room for other requests. */
const BYTES_PER_MS = 8 * 1024
/**
 * Budget that accumulates while nothing large is read, so that a single upload of the largest file is not slowed down.
 */
const MAX_SAVED = 24 * 1024 * 1024
/** The same limit while several connections wait, so that their reads are spread evenly. */
const MAX_SAVED_BY_MANY = 64 * 1024

/** A connection whose reading can be held back. */
export interface PausableReader {
  readonly pause: () => void
  readonly resume: () => void
}

/** Shares out the reading of large bodies and frames: one read per round of the event loop, in turn, up to a rate. */
export class ReadBudget implements Disposable {
  readonly #waiting = new Set<PausableReader>()
  #left = MAX_SAVED
  #filledAt = performance.now()
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  /** How many connections wait for their next read. */
  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Counts bytes that were read, and pauses the connection until its next read. Libuv would read up to 2 MiB at once.
   */
  spend(reader: PausableReader, bytes: number): void {
    this.#left -= bytes
    reader.pause()
    if (this.#waiting.has(reader)) return
    this.#waiting.add(reader)
    this.#schedule()
  }

  /** Pauses a connection for good: it is about to be closed. */
  stop(reader: PausableReader): void {
    this.#waiting.delete(reader)
    reader.pause()
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    if (this.#immediate !== undefined || this.#timer !== undefined) return
    this.#fill()
    if (this.#left > 0) this.#immediate = setImmediate(() => this.#resumeNext())
    else this.#timer = setTimeout(() => this.#resumeNext(), Math.ceil(-this.#left / BYTES_PER_MS))
  }

  #resumeNext(): void {
    this.#immediate = undefined
    this.#timer = undefined
    const [next] = this.#waiting
    if (next === undefined) return
    this.#waiting.delete(next)
    next.resume()
    if (this.#waiting.size > 0) this.#schedule()
  }

  #fill(): void {
    const now = performance.now()
    const maxSaved = this.#waiting.size > 1 ? MAX_SAVED_BY_MANY : MAX_SAVED
    this.#left = Math.min(maxSaved, this.#left + (now - this.#filledAt) * BYTES_PER_MS)
    this.#filledAt = now
  }
}
