import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Frame } from '../timed-chat.ts'

const CHUNK_BYTES = 64 * 1024
const TEXT = 1

/** Part of the last frame of a turn. */
export const DONE = '"state":"done"'

/**
 * A WebSocket client that stores its input unparsed, so that a thousand of them need little CPU time, and that can read
 * slowly. It sends nothing, not even pongs.
 */
export class RawSocket implements Disposable {
  readonly #chunks: Buffer[] = []
  readonly #socket: Socket
  #chunk: Buffer
  #slow: NodeJS.Timeout | undefined
  #bytes = 0

  private constructor(url: URL, chunkBytes: number) {
    this.#chunk = Buffer.alloc(chunkBytes)
    this.#socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer: () => this.#chunk,
        callback: (length, buffer) => {
          this.#chunks.push(Buffer.copyBytesFrom(buffer, 0, length))
          this.#bytes += length
          return this.#slow === undefined
        },
      },
    })
    // A close follows.
    this.#socket.on('error', () => undefined)
  }

  /** Joins a session and waits for the welcome. `chunkBytes`: size of one read. */
  static async open(
    url: string,
    sessionId: string,
    { chunkBytes = CHUNK_BYTES }: { readonly chunkBytes?: number } = {},
  ): Promise<RawSocket> {
    const target = new URL(`/ws?sessionId=${sessionId}`, url)
    const raw = new RawSocket(target, chunkBytes)
    await once(raw.#socket, 'connect')
    raw.#socket.write(
      [
        `GET ${target.pathname}${target.search} HTTP/1.1`,
        `Host: ${target.host}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
        '\r\n',
      ].join('\r\n'),
    )
    while (!raw.frames().some(({ type }) => type === 'connection')) {
      if (raw.isClosed) throw new Error('a socket was closed before the welcome')
      await delay(5)
    }
    return raw
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** Number of bytes read so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Reads one chunk per period. */
  readSlowly(periodMs: number): void {
    this.#slow = setInterval(() => this.#socket.resume(), periodMs).unref()
  }

  /** Ends slow reading. */
  readFast(): void {
    clearInterval(this.#slow)
    this.#slow = undefined
    this.#chunk = Buffer.alloc(CHUNK_BYTES)
    this.#socket.resume()
  }

  /** Whether the last two chunks contain a text. */
  endsWith(text: string): boolean {
    return Buffer.concat(this.#chunks.slice(-2)).includes(text)
  }

  /** All frames that have arrived completely. */
  frames(): Frame[] {
    const bytes = Buffer.concat(this.#chunks)
    const frames: Frame[] = []
    const head = bytes.indexOf('\r\n\r\n')
    for (let at = head < 0 ? bytes.length : head + 4; at + 2 <= bytes.length;) {
      const short = bytes.readUInt8(at + 1)
      const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0)
      if (start > bytes.length) break
      const length =
        short === 126
          ? bytes.readUInt16BE(at + 2)
          : short === 127
            ? Number(bytes.readBigUInt64BE(at + 2))
            : short
      const end = start + length
      if (end > bytes.length) break
      if ((bytes.readUInt8(at) & 15) === TEXT) {
        frames.push(JSON.parse(bytes.toString('utf8', start, end)) as Frame)
      }
      at = end
    }
    return frames
  }

  [Symbol.dispose](): void {
    clearInterval(this.#slow)
    this.#socket.destroy()
  }
}

/** The answer text of frames. */
export function textOf(frames: readonly Frame[]): string {
  return frames
    .filter((frame) => frame.type === 'text')
    .map(({ payload }) => payload.content)
    .join('')
}
