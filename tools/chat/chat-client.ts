import { setTimeout as delay } from 'node:timers/promises'
import type { SessionEvent, ToolProgressDown, Up } from '@mcp-host/contracts'
import { Down } from '@mcp-host/contracts'
import type { MessageExtras } from './chat-commands.ts'
import type { Answer } from './question-desk.ts'

const RECONNECT_LIMIT_MS = 30_000
/** Close code of a gateway that finds the query faulty. */
const REFUSED = 1008

/** Nobody listens where the gateway should be. */
export class NoGatewayError extends Error {
  override readonly name = 'NoGatewayError'
}

/** What the client is told of its session. */
export type ChatEvent = SessionEvent | ToolProgressDown | Extract<Down, { type: 'queue' }>

interface Unaccepted {
  readonly frame: Up
  readonly refused: (error: { code: string; message: string }) => void
}

interface MessageOptions extends MessageExtras {
  readonly id?: string
}

export interface ChatClientOptions {
  /** Of the gateway. */
  readonly url: string
  readonly sessionId?: string
  readonly onWelcome: (message: string, sessionId: string) => void
  readonly onEvent: (event: ChatEvent) => void
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
  #isDeleted = false
  /** Sent and not yet accepted: sent again after a reconnect; the id makes it count once. */
  readonly #unaccepted = new Map<string, Unaccepted>()
  /** Messages whose turns are to be ended as soon as they are accepted. */
  readonly #toCancel = new Set<string>()

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
      if (this.#isClosed || this.#socket !== socket) return
      if (this.#isDeleted) this.#options.onLost('this session was deleted')
      else void this.#reconnect()
    })
    await promise
    this.#socket = socket
    for (const id of this.#unaccepted.keys()) this.#send(id)
  }

  /** Says something; it is answered by events. */
  say(text: string, { id = crypto.randomUUID(), model, attachments }: MessageOptions = {}): void {
    const extras = {
      ...(model === undefined ? {} : { model }),
      ...(attachments === undefined ? {} : { attachments: [...attachments] }),
    }
    this.#submit(id, {
      frame: { type: 'message', payload: { id, text, ...extras } },
      refused: ({ message }) => this.#options.onRefused(message),
    })
  }

  /** Gets another answer to an earlier message. */
  regenerate(messageId: string, { model }: Pick<MessageExtras, 'model'> = {}): void {
    const id = crypto.randomUUID()
    const payload = { id, messageId, ...(model === undefined ? {} : { model }) }
    this.#submit(id, {
      frame: { type: 'regenerate', payload },
      refused: ({ message }) => this.#options.onRefused(message),
    })
  }

  /** Answers a question of an MCP server, or of the host. */
  answer({ id, action, content }: Answer): void {
    const given = content === undefined ? {} : { content: { ...content } }
    this.#submit(id, {
      frame: { type: 'answer', payload: { id, action, ...given } },
      refused: (error) => this.#options.onAnswerRefused(id, error),
    })
  }

  /** Ends the turn of a message. */
  cancel(messageId: string): void {
    if (this.#unaccepted.has(messageId)) {
      this.#toCancel.add(messageId)
      return
    }
    this.#submit(messageId, {
      frame: { type: 'cancel', payload: { messageId } },
      // What is not there needs no end.
      refused: ({ code, message }) => {
        if (code !== 'not-found') this.#options.onConnection(`Not stopped: ${message}`)
      },
    })
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.close()
  }

  #submit(id: string, unaccepted: Unaccepted): void {
    this.#unaccepted.set(id, unaccepted)
    this.#send(id)
  }

  #send(id: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify(this.#unaccepted.get(id)?.frame))
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
        if (this.#toCancel.delete(frame.payload.messageId)) this.cancel(frame.payload.messageId)
        return false
      case 'error': {
        const { messageId = '', code, message } = frame.payload
        const unaccepted = this.#unaccepted.get(messageId)
        this.#unaccepted.delete(messageId)
        if (unaccepted === undefined) this.#options.onRefused(message)
        else unaccepted.refused({ code, message })
        return false
      }
      case 'pong':
        return false
      default:
        if (frame.type === 'session') this.#isDeleted = true
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
