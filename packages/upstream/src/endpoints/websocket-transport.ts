import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectSecure, type ConnectionOptions } from 'node:tls'

import {
  type AuthProvider,
  type JSONRPCMessage,
  type MessageExtraInfo,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'

import { inspectJson } from '@mcp-host/json'
import { MAX_BYTES_PARSED_HERE, parseInThread } from '@mcp-host/json/thread'
import { inPlaceOf, type Intake, refusalOf } from '../intake/intake.ts'
import { inPlaceOfUnreadable, readMessage } from '../intake/read-message.ts'
import { openTunnel } from '../proxy/open-tunnel.ts'
import type { ProxyFor } from '../proxy/proxy-for.ts'
import { PacedConnection } from '../streams/paced-frames.ts'
import { UnsentError } from '../errors/unsent-error.ts'

const SUBPROTOCOL = 'mcp'
/** The time limit for the close handshake, in milliseconds. */
const CLOSE_LIMIT_MS = 2000
/** The frames that are passed on at once. One takes about a microsecond. */
const MAX_FRAMES = 256
/** The cost of a frame: a server may send 16,000 a second. */
const FRAME_BYTES = 256
/** A server that leaves more than that unread gets no answers to its pings. */
const MAX_UNREAD_BYTES = 1024 * 1024

export interface WebSocketOptions {
  /** Sent with the opening request. */
  readonly headers: Readonly<Record<string, string>>
  readonly intake: Intake
  readonly proxyFor: ProxyFor
  /** Gives the token of the opening request. */
  readonly auth?: AuthProvider | undefined
}

type ConnectOptions = TcpNetConnectOpts & ConnectionOptions
type Connected = (error: Error | null, connection?: Duplex) => void

interface Frame {
  readonly kind: 'text' | 'binary' | 'ping' | 'pong'
  readonly data: Buffer
}

/** MCP over a WebSocket: one message per text frame. What it reads has the limits of `Intake`, as over stdio. */
export class WebSocketTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  /** Why the connection ended; undefined while it is open. */
  closeReason: string | undefined
  readonly #url: URL
  readonly #options: WebSocketOptions
  #socket: WebSocket | undefined
  #closed: Promise<void> = Promise.resolve()
  #frames: Frame[] = []
  #reading: Promise<void> = Promise.resolve()
  #isReading = false

  constructor(url: URL, options: WebSocketOptions) {
    this.#url = url
    this.#options = options
  }

  /** Resolves once the socket is open; throws when it cannot be opened. */
  async start(): Promise<void> {
    const { headers, intake, auth } = this.#options
    const token = await auth?.token()
    const socket = new WebSocket(this.#url, SUBPROTOCOL, {
      headers: token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` },
      maxPayload: intake.limits.messageBytes,
      // Text that is no UTF-8 is received as over stdio.
      skipUTF8Validation: true,
      perMessageDeflate: false,
      autoPong: false,
      // Its type is that of `net.connect`; it is called by Node.js, which also takes a later connection.
      createConnection: ((options: ConnectOptions, done: Connected) =>
        this.#connect(options, done)) as unknown as typeof connectPlain,
    })
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    this.#closed = closed.promise
    socket.on('open', () => opened.resolve())
    socket.on('upgrade', ({ headers: answered }) => {
      // Many servers do not repeat the subprotocol, which they need not do with the one of MCP.
      answered['sec-websocket-protocol'] ??= SUBPROTOCOL
    })
    socket.on('message', (data, isBinary) => {
      this.#receive({ kind: isBinary ? 'binary' : 'text', data: data as Buffer })
    })
    socket.on('ping', (data) => this.#receive({ kind: 'ping', data }))
    socket.on('pong', (data) => this.#receive({ kind: 'pong', data }))
    socket.on('error', (error) => {
      const { host } = this.#url
      opened.reject(new Error(`no WebSocket could be opened at ${host}: ${error.message}`))
      this.closeReason ??= isTooLarge(error)
        ? `sent a message of more than ${intake.limits.messageBytes} bytes`
        : `broke the connection: ${error.message}`
    })
    socket.on('close', (code, reason) => {
      const shown = reason.toString()
      this.closeReason ??= `closed the connection (${code}${shown === '' ? '' : `, ${shown}`})`
      opened.reject(new Error(`${this.#url.host} ${this.closeReason}`))
      void this.#end().then(closed.resolve)
    })
    await opened.promise
  }

  /** Calls `done` only where it returns nothing, as Node.js expects it. */
  #connect(options: ConnectOptions, done: Connected): Duplex | undefined {
    const { host = '', port } = options
    const proxy = this.#options.proxyFor(this.#url)
    if (proxy === undefined) return this.#converse(options)
    openTunnel(proxy, { host, port }).then(
      (socket) => done(null, this.#converse(options, socket)),
      (error: Error) => done(error),
    )
    return undefined
  }

  /** `tunnel`: a connection that leads to the server. */
  #converse(options: ConnectOptions, tunnel?: Socket): Duplex {
    const { host = '' } = options
    const isSecure = this.#url.protocol === 'wss:'
    const connection = isSecure
      ? connectSecure({
          ...options,
          path: undefined,
          servername: isIP(host) === 0 ? host : '',
          ...(tunnel === undefined ? {} : { socket: tunnel }),
        })
      : (tunnel ?? connectPlain(options))
    return new PacedConnection(connection, () => ({
      pace: (bytes, frames) => this.#options.intake.pace(Math.max(bytes, frames * FRAME_BYTES)),
      maxFrames: MAX_FRAMES,
      hasPreface: true,
    }))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) throw new UnsentError('the WebSocket is not open')
    socket.send(JSON.stringify(message))
  }

  /** Resolves when the connection has ended, which is cut when the peer does not answer. */
  async close(): Promise<void> {
    this.closeReason ??= 'was disconnected'
    const socket = this.#socket
    const late = setTimeout(() => socket?.terminate(), CLOSE_LIMIT_MS)
    socket?.close(1000)
    await this.#closed
    clearTimeout(late)
  }

  /** Handles what was received before the end. */
  async #end(): Promise<void> {
    await this.#reading
    this.onclose?.()
  }

  #receive(frame: Frame): void {
    this.#frames.push(frame)
    if (!this.#isReading) this.#reading = this.#readFrames()
  }

  async #readFrames(): Promise<void> {
    this.#isReading = true
    while (this.#frames.length > 0) {
      const frames = this.#frames
      this.#frames = []
      for (const frame of frames) {
        const handling = this.#handle(frame) ?? this.#options.intake.handled(frame.data.length)
        if (handling === undefined) continue
        // Further frames stay in the connection, except for those that are here already.
        this.#socket?.pause()
        await handling
        this.#socket?.resume()
      }
    }
    this.#isReading = false
  }

  #handle({ kind, data }: Frame): Promise<void> | undefined {
    const { intake } = this.#options
    if (kind === 'text' && data.length > 0) return this.#readMessage(data)
    if (!intake.takeUseless()) return undefined
    if (kind === 'ping') this.#answerPing(data)
    if (kind === 'binary') this.onerror?.(new Error('a binary frame is not a message'))
    return undefined
  }

  #answerPing(data: Buffer): void {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > MAX_UNREAD_BYTES) return
    socket.pong(data)
  }

  #readMessage(data: Buffer): Promise<void> | undefined {
    const refused = this.#options.intake.check(data)
    if (refused !== undefined) {
      const refusal = refusalOf(refused)
      // A socket that cannot send is about to end.
      if (refusal !== undefined) this.send(refusal).catch(() => undefined)
      const answer = inPlaceOf(refused)
      if (answer !== undefined) this.#take(() => answer)
      return undefined
    }
    if (data.length > MAX_BYTES_PARSED_HERE) return this.#readLarge(data as Buffer<ArrayBuffer>)
    this.#take(() => readMessage(data.toString()))
    return undefined
  }

  async #readLarge(data: Buffer<ArrayBuffer>): Promise<void> {
    const { intake } = this.#options
    const shape = inspectJson(data)
    const { value, error } = await parseInThread(data).then(
      (read) => ({ value: read, error: undefined }),
      (reason: unknown) => ({ value: inPlaceOfUnreadable(reason, shape), error: reason }),
    )
    if (value !== undefined) this.#take(() => value)
    // A response may be lost.
    else intake.exceed(`sent a message that could not be read: ${String(error)}`)
  }

  #take(read: () => unknown): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(read()))
    } catch (error) {
      if (!this.#options.intake.takeUseless()) return
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

function isTooLarge(error: Error): boolean {
  return 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
}
