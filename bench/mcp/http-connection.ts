import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface HttpAnswer {
  readonly status: number
  /** Status line and headers. */
  readonly head: string
  /** As it came: one in chunks has their sizes between them. */
  readonly body: string
}

/**
 * One request after another on one connection. The callers share two cores with what is measured, so they do no
 * more than that takes: a request is one write, and of an answer nothing is looked at but where it ends.
 */
export class HttpConnection {
  readonly #socket: Socket
  readonly #host: string
  #received = ''
  #waiting: PromiseWithResolvers<HttpAnswer> | undefined

  /** Requests wait until it is connected. */
  constructor(url: string) {
    const { hostname, port, host } = new URL(url)
    this.#host = host
    const socket = connect(Number(port), hostname).setNoDelay()
    // A character for each byte, so that lengths are those of the headers.
    socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')))
    this.#socket = socket
  }

  /** `headers`: lines that end as in HTTP. One request at a time. Throws when the connection ends. */
  async post(path: string, headers: string, body: string): Promise<HttpAnswer> {
    this.#waiting = Promise.withResolvers()
    const length = Buffer.byteLength(body)
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
    )
    return this.#waiting.promise
  }

  close(): void {
    this.#socket.destroy()
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
