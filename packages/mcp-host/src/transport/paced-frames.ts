import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect as connectSecure, type ConnectionOptions } from 'node:tls'

import type { Intake } from '../intake/intake.ts'

/** The frames that are passed on at once. One takes about a microsecond. */
const MAX_FRAMES = 256
/** The cost of a frame: a server may send 16,000 a second. */
const FRAME_BYTES = 256
const PREFACE_END = '\r\n\r\n'
/** The longest head of a frame: two bytes, a length of eight, and a mask of four. */
const MAX_HEAD_BYTES = 14

export type ConnectOptions = TcpNetConnectOpts & ConnectionOptions

/**
 * A connection to the server of a WebSocket. What it receives is passed on in pieces of some hundred frames, at the rate of
 * `Intake`: a single read may have 30,000 empty ones, which the library would handle at once.
 */
export function connectPaced(
  intake: Pick<Intake, 'pace'>,
  options: ConnectOptions,
  isSecure: boolean,
): Duplex {
  const { host = '', servername = isIP(host) === 0 ? host : '' } = options
  const connection = isSecure
    ? connectSecure({ ...options, servername, path: undefined })
    : connectPlain(options)
  connection.setNoDelay(true)
  return new PacedConnection(connection, pacedFrames(connection, intake))
}

class PacedConnection extends Duplex {
  readonly #connection: Socket
  readonly #pieces: AsyncIterator<Buffer, void>

  constructor(connection: Socket, pieces: AsyncIterator<Buffer, void>) {
    super()
    this.#connection = connection
    this.#pieces = pieces
  }

  override _read(): void {
    this.#pieces.next().then(
      ({ value }) => void this.push(value ?? null),
      (error: Error) => void this.destroy(error),
    )
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, done)
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

/** The bytes of a server, in pieces: the answer to the opening request, and then frames. */
export async function* pacedFrames(
  received: AsyncIterable<Buffer>,
  intake: Pick<Intake, 'pace'>,
): AsyncGenerator<Buffer, void, undefined> {
  const heads = new FrameHeads()
  let preface = ''
  let isOpen = false
  for await (const chunk of received) {
    let start = 0
    if (!isOpen) {
      const before = preface.length
      preface += chunk.toString('latin1')
      const end = preface.indexOf(PREFACE_END)
      isOpen = end !== -1
      start = isOpen ? end + PREFACE_END.length - before : chunk.length
      yield chunk.subarray(0, start)
      if (isOpen) preface = ''
    }
    while (start < chunk.length) {
      const { end, frames } = heads.read(chunk, start)
      const pause = intake.pace(Math.max(end - start, frames * FRAME_BYTES))
      yield chunk.subarray(start, end)
      start = end
      await (pause ?? nextTurn())
    }
  }
}

/** Finds the heads of frames in bytes that arrive in pieces. */
class FrameHeads {
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES)
  #headBytes = 0
  /** The bytes of the current frame that are still to come. */
  #rest = 0

  /** Reads from `start` on, and stops after `MAX_FRAMES` heads. */
  read(chunk: Buffer, start: number): { readonly end: number; readonly frames: number } {
    let at = start
    let frames = 0
    while (at < chunk.length && frames < MAX_FRAMES) {
      if (this.#rest > 0) {
        const part = Math.min(this.#rest, chunk.length - at)
        at += part
        this.#rest -= part
      } else {
        this.#head[this.#headBytes++] = chunk[at++] ?? 0
        if (this.#endHead()) frames += 1
      }
    }
    return { end: at, frames }
  }

  /** Whether the head is complete. Begins the content of its frame, then. */
  #endHead(): boolean {
    if (this.#headBytes < 2) return false
    const second = this.#head[1] ?? 0
    const length = second & 0x7f
    const lengthBytes = length === 127 ? 8 : length === 126 ? 2 : 0
    const maskBytes = second & 0x80 ? 4 : 0
    if (this.#headBytes < 2 + lengthBytes + maskBytes) return false
    this.#headBytes = 0
    if (lengthBytes === 0) this.#rest = length
    else
      this.#rest =
        lengthBytes === 2 ? this.#head.readUInt16BE(2) : Number(this.#head.readBigUInt64BE(2))
    return true
  }
}
