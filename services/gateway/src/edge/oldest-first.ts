/** Bodies and messages up to this size are received at any time, so that large ones do not block them. */
export const SMALL_BYTES = 64 * 1024
/** Memory for larger bodies, and for larger messages, that are being received. */
export const TOTAL_BYTES = 128 * 1024 * 1024
/** Memory of a piece besides its bytes. */
export const PIECE_BYTES = 300

/** Limits the memory of what is being received: beyond it, the oldest is given up. Those who send steadily are younger. */
export class OldestFirst<T> {
  readonly #totalBytes: number
  readonly #giveUp: (item: T) => void
  readonly #held = new Map<T, number>()
  #bytes = 0

  constructor(totalBytes: number, giveUp: (item: T) => void) {
    this.#totalBytes = totalBytes
    this.#giveUp = giveUp
  }

  /** The memory of all that are not small. */
  get bytes(): number {
    return this.#bytes
  }

  /** Tells the memory that an item holds now. */
  set(item: T, bytes: number): void {
    this.#bytes -= this.#held.get(item) ?? 0
    if (bytes <= SMALL_BYTES) return void this.#held.delete(item)
    this.#held.set(item, bytes)
    this.#bytes += bytes
    for (const [oldest, held] of this.#held) {
      if (this.#bytes <= this.#totalBytes) return
      this.#held.delete(oldest)
      this.#bytes -= held
      this.#giveUp(oldest)
    }
  }
}
