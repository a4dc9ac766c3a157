/**
 * Pieces from this size on are kept as they are. Smaller ones are copied together, since each array in a list costs 200
 * bytes.
 */
const LARGE_BYTES = 16 * 1024
/** The first and the largest array for small pieces. */
const MIN_BYTES = 4 * 1024
const MAX_BYTES = 64 * 1024
/** Shared by all buffers: an empty array for each would cost 0.2 µs per request. */
const EMPTY = new Uint8Array()

/** Collects bytes that arrive in pieces. The pieces are joined only at the end, which many uploads never reach. */
export class ByteBuffer {
  /** Arrays that take no more bytes: full ones, and small ones before a large piece. */
  readonly #blocks: Uint8Array<ArrayBuffer>[] = []
  /** The array that takes the next small pieces. */
  #tail = EMPTY
  #used = 0
  #length = 0
  /** Memory of all arrays. */
  #size = 0

  get length(): number {
    return this.#length
  }

  /** Memory in bytes after a piece of `more` bytes is appended. */
  sizeWith(more: number): number {
    return this.#size + this.#newArraySize(more)
  }

  /** Appends a piece. The first piece and large ones are not copied, so they must not change afterwards. */
  append(piece: Uint8Array<ArrayBuffer>): void {
    const added = this.#newArraySize(piece.length)
    if (added > 0) {
      if (this.#used > 0) this.#blocks.push(this.#tail.subarray(0, this.#used))
      const isKept = added === piece.length
      if (isKept) this.#blocks.push(piece)
      this.#tail = isKept ? EMPTY : new Uint8Array(added)
      this.#used = 0
      this.#size += added
    }
    if (added !== piece.length) {
      this.#tail.set(piece, this.#used)
      this.#used += piece.length
    }
    this.#length += piece.length
  }

  /** All bytes. A single piece is returned without a copy. */
  bytes(): Uint8Array<ArrayBuffer> {
    const [first] = this.#blocks
    if (first?.length === this.#length) return first
    const whole = new Uint8Array(this.#length)
    let at = 0
    for (const block of this.#blocks) {
      whole.set(block, at)
      at += block.length
    }
    whole.set(this.#tail.subarray(0, this.#used), at)
    return whole
  }

  /** The size of the array to allocate for `more` bytes; 0 if the last array has room. */
  #newArraySize(more: number): number {
    if (more <= this.#tail.length - this.#used) return 0
    if (more >= LARGE_BYTES || this.#length === 0) return more
    return Math.min(MAX_BYTES, Math.max(MIN_BYTES, 2 * more, 2 * this.#tail.length))
  }
}
