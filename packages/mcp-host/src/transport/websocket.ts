import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'

import { inPlaceOf, type Intake, refusalOf } from '../intake/intake.ts'
import { readMessage } from '../intake/read-json.ts'
import { UnsentError } from './unsent-error.ts'

const SUBPROTOCOL = 'mcp'
/** The time limit for the close handshake, in milliseconds. */
const CLOSE_LIMIT_MS = 2000

export interface WebSocketOptions {
  /** Sent with the opening request. */
  readonly headers: Readonly<Record<string, string>>
  readonly intake: Intake
}

/** MCP over a WebSocket: one message per text frame. */
export class WebSocketTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  /** Why the connection ended; undefined while it is open. */
  closeReason: string | undefined
  readonly #url: URL
  readonly #options: WebSocketOptions
  #socket: WebSocket | undefined
  #hasEnded = false

  constructor(url: URL, options: WebSocketOptions) {
    this.#url = url
    this.#options = options
  }

  /** Resolves once the socket is open; throws when it cannot be opened. */
  async start(): Promise<void> {
    // Node's WebSocket takes headers, which the web type lacks.
    const init = { protocols: [SUBPROTOCOL], headers: this.#options.headers } as unknown as string
    const socket = new WebSocket(this.#url, init)
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    socket.addEventListener('open', () => opened.resolve())
    socket.addEventListener('error', () => {
      opened.reject(new Error(`no WebSocket could be opened at ${this.#url.host}`))
    })
    socket.addEventListener('message', ({ data }) => this.#receive(data))
    socket.addEventListener('close', ({ code, reason }) => {
      this.closeReason ??= `closed the connection (${code}${reason === '' ? '' : `, ${reason}`})`
      opened.reject(new Error(`${this.#url.host} ${this.closeReason}`))
      this.#end()
    })
    await opened.promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) throw new UnsentError('the WebSocket is not open')
    socket.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.closeReason ??= 'was disconnected'
    const socket = this.#socket
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return
    const closed = Promise.withResolvers<void>()
    socket.addEventListener('close', () => closed.resolve())
    // An unreachable peer does not answer the close.
    const late = setTimeout(() => {
      this.#end()
      closed.resolve()
    }, CLOSE_LIMIT_MS)
    socket.close(1000)
    await closed.promise
    clearTimeout(late)
  }

  /** Calls `onclose` once, also when a peer answers the close after the limit. */
  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.onclose?.()
  }

  #receive(data: unknown): void {
    try {
      if (typeof data !== 'string') throw new Error('a binary frame is not a message')
      const { intake } = this.#options
      const { messageBytes } = intake.limits
      // Node itself accepts no message above 128 MB.
      if (data.length > messageBytes) {
        return intake.exceed(`sent a message of more than ${messageBytes} bytes`)
      }
      const refused = intake.check(Buffer.from(data))
      if (refused !== undefined) {
        const refusal = refusalOf(refused)
        // A socket that cannot send is about to end.
        if (refusal !== undefined) this.send(refusal).catch(() => undefined)
        const answer = inPlaceOf(refused)
        if (answer !== undefined) this.onmessage?.(answer)
        return
      }
      this.onmessage?.(parseJSONRPCMessage(readMessage(data)))
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
