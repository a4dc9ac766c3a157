import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface HttpAnswer {
  readonly status: number
  /** Status line and headers. */
  readonly head: string
  /** As received, including the sizes of chunks. */
  readonly body: string
}

const SILENCE_MS = 60_000

/**
 * Sends one request after another on one connection. The callers share the cores with the measured programs, so this
 * client does little: a request is one write, and an answer is only searched for its end.
 */
export class HttpConnection {
  readonly #url: URL
  #socket: Socket
  #received = ''
  #waiting: PromiseWithResolvers<HttpAnswer> | undefined

  /** Connects in the background. Requests wait for the connection. */
  constructor(url: string) {
    this.#url = new URL(url)
    this.#socket = this.#connect()
  }

  /**
   * One request at a time. `headers`: lines with `\r\n`. Throws when the connection ends before the answer is complete.
   */
  async ask(method: string, path: string, headers: string, body = ''): Promise<HttpAnswer> {
    // Servers close connections that were idle for some seconds.
    if (!this.#socket.writable) this.#socket = this.#connect()
    this.#waiting = Promise.withResolvers()
    const length = Buffer.byteLength(body)
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
    )
    return this.#waiting.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #connect(): Socket {
    // Discards an incomplete answer of the previous connection.
    this.#received = ''
    const socket = connect(Number(this.#url.port), this.#url.hostname).setNoDelay()
    // In latin1 the number of characters is the number of bytes, as in content-length.
    socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('no data for too long')))
    const fail = (error: Error): void => {
      if (socket === this.#socket) this.#waiting?.reject(error)
    }
    socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')))
    return socket
  }

  #take(text: string): void {
    this.#received += text
    const at = this.#received.indexOf('\r\n\r\n')
    if (at === -1) return
    const head = this.#received.slice(0, at + 2)
    const body = this.#received.slice(at + 4)
    if (!isWhole(head, body)) return
    this.#received = ''
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }
}

function isWhole(head: string, body: string): boolean {
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length !== undefined) return body.length >= Number(length)
  return !/\r\ntransfer-encoding: *chunked/i.test(head) || /(^|\r\n)0\r\n\r\n$/.test(body)
}
