import { JoinedParts } from './joined-parts.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d

export interface LineSplitterOptions {
  readonly maxLineBytes: number
  /** The effect of a longer line: it is cut, or `push` throws. */
  readonly whenTooLong: 'cut' | 'throw'
}

/** Splits chunks into lines, and holds at most one line of bounded length. */
export class LineSplitter {
  readonly #maxLineBytes: number
  readonly #whenTooLong: 'cut' | 'throw'
  readonly #parts = new JoinedParts()
  #isSkipping = false

  constructor({ maxLineBytes, whenTooLong }: LineSplitterOptions) {
    this.#maxLineBytes = maxLineBytes
    this.#whenTooLong = whenTooLong
  }

  /** The size of the incomplete line. */
  get bytes(): number {
    return this.#parts.bytes
  }

  /** Whether the rest of a line is being dropped. */
  get isSkipping(): boolean {
    return this.#isSkipping
  }

  /** The received part of the incomplete line. */
  beginning(): Buffer {
    return this.#parts.whole()
  }

  /** Drops the incomplete line, including its remaining part. */
  skip(): void {
    this.rest()
    this.#isSkipping = true
  }

  /** The lines that `chunk` completes, without line ends. Throws `RangeError` on a long line. */
  *push(chunk: Buffer): Generator<Buffer<ArrayBuffer>> {
    let start = 0
    if (this.#isSkipping) {
      start = chunk.indexOf(NEWLINE) + 1
      if (start === 0) return
      this.#isSkipping = false
    }
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      this.#hold(chunk.subarray(start, end === -1 ? undefined : end))
      if (end === -1) return
      yield this.rest()
      start = end + 1
    }
  }

  #hold(part: Buffer): void {
    const room = this.#maxLineBytes - this.bytes
    if (part.length > room && this.#whenTooLong === 'throw') {
      throw new RangeError(`a line is longer than ${this.#maxLineBytes} bytes`)
    }
    this.#parts.push(part.subarray(0, room))
  }

  /** Takes the incomplete line. */
  rest(): Buffer<ArrayBuffer> {
    const line = this.#parts.take()
    return line.at(-1) === RETURN ? line.subarray(0, -1) : line
  }
}
