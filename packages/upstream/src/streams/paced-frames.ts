import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The longest head of a frame: two bytes, a length of eight, and a mask of four. */
const MAX_HEAD_BYTES = 14
const PREFACE_END = '\r\n\r\n'

/**
 * Counts bytes and frames that were received. `unfinished`: the bytes so far of a message whose end is still to come.
 * Returns a promise when the next piece has to wait.
 */
export type Pace = (bytes: number, frames: number, unfinished: number) => Promise<void> | undefined

export interface PacedOptions {
  readonly pace: Pace
  /** The frames that are passed on at once. */
  readonly maxFrames: number
  /** Whether the answer to an opening request comes before the frames. */
  readonly hasPreface?: boolean
  /** Bytes that were received before. */
  readonly received?: Buffer
}

/**
 * The connection of a WebSocket. What it receives is passed on in pieces of few frames, each when its turn comes: a single
 * read may have 30,000 empty ones, which the library would handle at once.
 */
export class PacedConnection extends Duplex {
  readonly #connection: Socket
  readonly #options: () => PacedOptions
  #pieces: AsyncIterator<Buffer, void> | undefined

  /** `options` is called at the first read. */
  constructor(connection: Socket, options: () => PacedOptions) {
    super()
    this.#connection = connection
    this.#options = options
    connection.setNoDelay(true)
  }

  override _read(): void {
    this.#pieces ??= pacedFrames(this.#connection, this.#options())
    this.#pieces.next().then(
      ({ value }) => void this.push(value ?? null),
      (error: Error) => void this.destroy(error),
    )
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, done)
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#connection.cork()
    chunks.forEach(({ chunk }, index) => {
      this.#connection.write(chunk, index === chunks.length - 1 ? done : undefined)
    })
    this.#connection.uncork()
  }

  override _final(done: (error?: Error | null) => void): void {
    // The peer may have ended the connection already.
    if (this.#connection.writable) this.#connection.end(done)
    else done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.destroy()
    done(error)
  }
}

/** The bytes that a WebSocket receives, in pieces. */
export async function* pacedFrames(
  received: AsyncIterable<Buffer>,
  { pace, maxFrames, hasPreface = false, received: before = Buffer.alloc(0) }: PacedOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const heads = new FrameHeads(maxFrames)
  let preface = ''
  let isOpen = !hasPreface
  async function* pieces(chunk: Buffer): AsyncGenerator<Buffer, void, undefined> {
    let start = 0
    if (!isOpen) {
      const length = preface.length
      preface += chunk.toString('latin1')
      const end = preface.indexOf(PREFACE_END)
      isOpen = end !== -1
      start = isOpen ? end + PREFACE_END.length - length : chunk.length
      yield chunk.subarray(0, start)
      if (isOpen) preface = ''
    }
    while (start < chunk.length) {
      const { end, frames } = heads.read(chunk, start)
      const pause = pace(end - start, frames, heads.unfinished)
      yield chunk.subarray(start, end)
      start = end
      await (pause ?? nextTurn())
    }
  }
  if (before.length > 0) yield* pieces(before)
  for await (const chunk of received) yield* pieces(chunk)
}

/** Finds the heads of frames in bytes that arrive in pieces. */
class FrameHeads {
  readonly #maxFrames: number
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES)
  #headBytes = 0
  /** The bytes of the current frame that are still to come. */
  #rest = 0
  #isControl = false
  #isLast = true
  #unfinished = 0

  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames
  }

  /** The bytes so far of a message whose end is still to come. */
  get unfinished(): number {
    return this.#unfinished
  }

  /** Reads from `start` on, and stops after some heads. */
  read(chunk: Buffer, start: number): { readonly end: number; readonly frames: number } {
    let at = start
    let frames = 0
    while (at < chunk.length && frames < this.#maxFrames) {
      if (this.#rest > 0) {
        const part = Math.min(this.#rest, chunk.length - at)
        at += part
        this.#rest -= part
        this.#count(part)
      } else {
        this.#head[this.#headBytes++] = chunk[at++] ?? 0
        if (!this.#endHead()) continue
        frames += 1
        this.#count(0)
      }
    }
    return { end: at, frames }
  }

  /** A ping or a pong may come between two parts of a message. */
  #count(bytes: number): void {
    if (this.#isControl) return
    this.#unfinished = this.#isLast && this.#rest === 0 ? 0 : this.#unfinished + bytes
  }

  /** Whether the head is complete. Begins the content of its frame, then. */
  #endHead(): boolean {
    if (this.#headBytes < 2) return false
    const [first = 0, second = 0] = this.#head
    const length = second & 0x7f
    const lengthBytes = length === 127 ? 8 : length === 126 ? 2 : 0
    const maskBytes = second & 0x80 ? 4 : 0
    if (this.#headBytes < 2 + lengthBytes + maskBytes) return false
    this.#headBytes = 0
    this.#isLast = (first & 0x80) !== 0
    this.#isControl = (first & 0x08) !== 0
    if (lengthBytes === 0) this.#rest = length
    else
      this.#rest =
        lengthBytes === 2 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2))
    return true
  }
}
