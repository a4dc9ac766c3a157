/** Pieces of this size are kept as they are; smaller ones are copied together: each in a list costs 200 bytes more. */
const LARGE_BYTES = 16 * 1024
/** The first and the largest array for small pieces. */
const MIN_BYTES = 4 * 1024
const MAX_BYTES = 64 * 1024
/** Shared: an array of its own costs 0.2 µs, in each request. */
const EMPTY = new Uint8Array()

/** Bytes that arrive in pieces. They become one array at the end alone, which many uploads never reach. */
export class ByteBuffer {
  /** Full, or followed by a large piece. */
  readonly #blocks: Uint8Array<ArrayBuffer>[] = []
  /** Takes the next small pieces. */
  #tail = EMPTY
  #used = 0
  #length = 0
  /** Memory of all arrays. */
  #size = 0

  get length(): number {
    return this.#length
  }

  /** Its memory in bytes once a piece of `more` bytes is appended. */
  sizeWith(more: number): number {
    return this.#size + this.#newArraySize(more)
  }

  /** Appends a piece. The first one and large ones are not copied: they must not change afterwards. */
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

  /** All of them: the array itself if they came in one piece. */
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

  /** 0 if the last array has room. */
  #newArraySize(more: number): number {
    if (more <= this.#tail.length - this.#used) return 0
    if (more >= LARGE_BYTES || this.#length === 0) return more
    return Math.min(MAX_BYTES, Math.max(MIN_BYTES, 2 * more, 2 * this.#tail.length))
  }
}
