import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface HttpAnswer {
  readonly status: number
  /** Status line and headers. */
  readonly head: string
  /** As it came: one in chunks has their sizes between them. */
  readonly body: string
}

const SILENCE_MS = 60_000

/**
 * One request after another on one connection. The callers share two cores with what is measured, so they do no
 * more than that takes: a request is one write, and of an answer nothing is looked at but where it ends.
 */
export class HttpConnection {
  readonly #url: URL
  #socket: Socket
  #received = ''
  #waiting: PromiseWithResolvers<HttpAnswer> | undefined

  /** Requests wait until it is connected. */
  constructor(url: string) {
    this.#url = new URL(url)
    this.#socket = this.#connect()
  }

  /**
   * `method`: such as `POST`. `headers`: lines that end as in HTTP. One request at a time. Throws when the connection
   * ends before the answer does.
   */
  async ask(method: string, path: string, headers: string, body = ''): Promise<HttpAnswer> {
    // Servers close what was idle for some seconds, as while others connect.
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
    // Half an answer of the last connection would be the beginning of the next.
    this.#received = ''
    const socket = connect(Number(this.#url.port), this.#url.hostname).setNoDelay()
    // A character for each byte, so that lengths are those of the headers.
    socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('nothing came for too long')))
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
