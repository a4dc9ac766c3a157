import { setTimeout as delay } from 'node:timers/promises'
import type { SessionEvent } from '@mcp-host/contracts'
import { Down } from '@mcp-host/contracts'
import type { Answer } from './question-desk.ts'

const RECONNECT_LIMIT_MS = 30_000
/** Close code of a gateway that finds the query faulty. */
const REFUSED = 1008

/** Nobody listens where the gateway should be. */
export class NoGatewayError extends Error {
  override readonly name = 'NoGatewayError'
}

export interface ChatClientOptions {
  /** Of the gateway. */
  readonly url: string
  readonly sessionId?: string
  readonly onWelcome: (message: string, sessionId: string) => void
  readonly onEvent: (event: SessionEvent) => void
  /** A message was refused. */
  readonly onRefused: (reason: string) => void
  /** An answer to a question was refused. */
  readonly onAnswerRefused: (id: string, error: { code: string; message: string }) => void
  /** The connection cannot be made again: nothing more will come. */
  readonly onLost: (reason: string) => void
  /** The connection is lost and being made again. */
  readonly onConnection: (message: string) => void
}

/** A chat over the gateway's WebSocket that goes on where it was when the connection breaks. */
export class ChatClient {
  readonly #options: ChatClientOptions
  #socket: WebSocket | undefined
  #sessionId: string | undefined
  #lastId: string | undefined
  #isClosed = false
  #isRefused = false
  /** Sent and not yet accepted: sent again after a reconnect; the id makes it count once. */
  readonly #unaccepted = new Map<string, object>()
  /** Which of them are answers. */
  readonly #answers = new Set<string>()

  constructor(options: ChatClientOptions) {
    this.#options = options
    this.#sessionId = options.sessionId
  }

  /** Resolves once connected. Throws when there is no gateway or it refuses. */
  async connect(): Promise<void> {
    const url = new URL('/ws', this.#options.url.replace(/^http/, 'ws'))
    if (this.#sessionId !== undefined) url.searchParams.set('sessionId', this.#sessionId)
    if (this.#lastId !== undefined) url.searchParams.set('after', this.#lastId)
    const socket = new WebSocket(url)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.addEventListener('message', ({ data }) => {
      const frame = Down.parse(JSON.parse(String(data)))
      if (frame.type === 'connection' && frame.payload.state === 'error') {
        reject(new Error(frame.payload.message))
      } else if (this.#take(frame)) resolve()
    })
    socket.addEventListener('error', () =>
      reject(new NoGatewayError(`no gateway answers at ${this.#options.url}`)),
    )
    socket.addEventListener('close', ({ code }) => {
      reject(new Error(`the gateway at ${url.origin} closed the connection`))
      // It will refuse the same again.
      if (code === REFUSED) this.#isRefused = true
      if (!this.#isClosed && this.#socket === socket) void this.#reconnect()
    })
    await promise
    this.#socket = socket
    for (const id of this.#unaccepted.keys()) this.#send(id)
  }

  /** Says something; it is answered by events. */
  say(text: string, id: string = crypto.randomUUID()): void {
    this.#unaccepted.set(id, { type: 'message', payload: { id, text } })
    this.#send(id)
  }

  /** Answers a question of an MCP server. */
  answer(answer: Answer): void {
    this.#answers.add(answer.id)
    this.#unaccepted.set(answer.id, { type: 'answer', payload: answer })
    this.#send(answer.id)
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.close()
  }

  #send(id: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify(this.#unaccepted.get(id)))
  }

  /** Answers whether the frame opened the connection. */
  #take(frame: Down): boolean {
    if ('id' in frame && frame.id !== undefined) this.#lastId = frame.id
    switch (frame.type) {
      case 'connection': {
        const { state, message, sessionId } = frame.payload
        if (state === 'reconnecting') this.#options.onConnection(message)
        if (sessionId === undefined || (state !== 'connected' && state !== 'reconnected'))
          return false
        this.#sessionId = sessionId
        if (state === 'connected') this.#options.onWelcome(message, sessionId)
        return true
      }
      case 'accepted':
        this.#unaccepted.delete(frame.payload.messageId)
        return false
      case 'error': {
        const { messageId = '', code, message } = frame.payload
        this.#unaccepted.delete(messageId)
        if (this.#answers.has(messageId)) {
          this.#options.onAnswerRefused(messageId, { code, message })
        } else this.#options.onRefused(message)
        return false
      }
      case 'pong':
        return false
      default:
        this.#options.onEvent(frame)
        return false
    }
  }

  async #reconnect(): Promise<void> {
    this.#options.onConnection('The connection is lost; connecting again')
    const giveUpAt = Date.now() + RECONNECT_LIMIT_MS
    let reason = 'the gateway did not come back'
    while (!this.#isClosed && !this.#isRefused && Date.now() < giveUpAt) {
      await delay(250)
      try {
        await this.connect()
        return
      } catch (error) {
        // Not there yet: that is why there is a next time.
        reason = error instanceof Error ? error.message : String(error)
      }
    }
    if (!this.#isClosed) this.#options.onLost(reason)
  }
}
