/** The number of parts that are joined to one: each needs more memory than a few bytes do. */
const MAX_PARTS = 4_096

/** Bytes that arrive in parts. */
export class JoinedParts {
  /** The size of all parts. */
  bytes = 0
  #parts: Buffer[] = []
  /** The leading parts that were joined. To join them again with each few bytes would copy megabytes each time. */
  #joined = 0

  push(part: Buffer): void {
    if (part.length === 0) return
    this.#parts.push(part)
    this.bytes += part.length
    if (this.#parts.length - this.#joined <= MAX_PARTS) return
    this.#parts.push(Buffer.concat(this.#parts.splice(this.#joined)))
    this.#joined += 1
  }

  /** All bytes. They are kept. */
  whole(): Buffer<ArrayBuffer> {
    const [first] = this.#parts
    const isWhole = this.#parts.length === 1 && first !== undefined
    const whole = isWhole ? first : Buffer.concat(this.#parts, this.bytes)
    this.#parts = [whole]
    this.#joined = 1
    return whole as Buffer<ArrayBuffer>
  }

  /** All bytes. They are removed. */
  take(): Buffer<ArrayBuffer> {
    const whole = this.whole()
    this.#parts = []
    this.#joined = 0
    this.bytes = 0
    return whole
  }
}
