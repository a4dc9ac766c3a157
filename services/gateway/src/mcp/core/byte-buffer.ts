/** The smallest array that is made for more than one piece. */
const MIN_BYTES = 4 * 1024
/** Shared: an array of its own costs 0.2 µs, in each request. */
const EMPTY = new Uint8Array()

/** Bytes that arrive in pieces, in one growing array: in a list, each piece of one byte would cost hundreds. */
export class ByteBuffer {
  #array = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The size of the array with `more` bytes: doubled when it grows, up to `maxBytes`. */
  sizeWith(more: number, maxBytes: number): number {
    const length = this.#length + more
    if (length <= this.#array.length) return this.#array.length
    // Most bodies come in one piece, which is kept as it is.
    if (this.#length === 0) return length
    return Math.max(length, Math.min(maxBytes, Math.max(MIN_BYTES, 2 * this.#array.length)))
  }

  /** Appends a piece. The first one is not copied: it must not change afterwards. */
  append(piece: Uint8Array, maxBytes: number): void {
    const size = this.sizeWith(piece.length, maxBytes)
    if (this.#length === 0) this.#array = piece as Uint8Array<ArrayBuffer>
    else {
      if (size > this.#array.length) {
        const larger = new Uint8Array(size)
        larger.set(this.bytes())
        this.#array = larger
      }
      this.#array.set(piece, this.#length)
    }
    this.#length += piece.length
  }

  /** All of them, without a copy. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#array.subarray(0, this.#length)
  }
}
