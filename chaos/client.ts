import { setTimeout as delay } from 'node:timers/promises'
import type { Down, SessionEvent } from '@mcp-host/contracts'
import { WebSocket } from 'ws'
import type { StreamCheck } from './check/stream-check.ts'

/** A gateway that says nothing for so long is taken for dead. */
const SILENCE_MS = 2_500
const PING_MS = 800
const RETRY_MS = 150
/** The code with which a gateway that goes down closes. */
const COME_BACK = 1012

export interface ClientOptions {
  /** Of all gateways. */
  readonly urls: readonly string[]
  /** Which of them comes first. */
  readonly first: number
  /** Watches the stream. */
  readonly check: StreamCheck
  /** Where to join a session that there is; without it the first gateway gives a new one. */
  readonly join?: { readonly sessionId: string; readonly after: string }
}

/** An event and when it came, in milliseconds of `performance.now()`. */
export interface Received {
  readonly at: number
  readonly event: SessionEvent
}

/**
 * A chat client as the protocol wants it: it connects to any gateway, comes back with its last id, and
 * sends again by the same id what was not accepted. Keeps all that it was sent.
 */
export class Client implements AsyncDisposable {
  readonly received: Received[] = []
  /** Messages the gateway said it has. */
  readonly accepted = new Set<string>()
  /** What a gateway answered that it must not. */
  readonly faults: string[] = []
  /** How its connections ended, apart from those that were closed with "come back" or that it dropped itself. */
  readonly breaks: string[] = []
  readonly check: StreamCheck
  /** Where the stream began, once there is a session. */
  start: { readonly sessionId: string; readonly after: string } | undefined
  readonly #urls: readonly string[]
  readonly #unaccepted = new Map<string, string>()
  /** Messages whose turns are to end, until that is accepted. */
  readonly #uncancelled = new Set<string>()
  readonly #waiters = new Map<string, () => void>()
  readonly #closed = new AbortController()
  readonly #life: Promise<void>
  #next: number
  #after: string | undefined
  #socket: WebSocket | undefined
  /** The one that it dropped last. */
  #dropped: WebSocket | undefined

  constructor({ urls, first, check, join }: ClientOptions) {
    this.#urls = urls
    this.#next = first
    this.check = check
    this.start = join
    this.#after = join?.after
    this.#life = this.#live()
  }

  /** Says something; resolves when its turn has ended in the stream. */
  async say(id: string, text: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    this.#waiters.set(id, ended.resolve)
    this.#unaccepted.set(id, text)
    this.#send(id, text)
    await ended.promise
  }

  /** Wants the turn of an accepted message to end. */
  cancel(id: string): void {
    this.#uncancelled.add(id)
    this.#sendCancel(id)
  }

  /** Loses its connection, as on a bad network. */
  drop(): void {
    this.#dropped = this.#socket
    this.#socket?.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    this.drop()
    await this.#life
  }

  async #live(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      await this.#connection()
      await delay(RETRY_MS, undefined, { signal: this.#closed.signal }).catch(() => undefined)
    }
  }

  /** One connection from beginning to end. */
  async #connection(): Promise<void> {
    const url = new URL('/ws', this.#urls[this.#next++ % this.#urls.length]?.replace('http', 'ws'))
    if (this.start !== undefined) url.searchParams.set('sessionId', this.start.sessionId)
    if (this.#after !== undefined) url.searchParams.set('after', this.#after)
    const socket = new WebSocket(url, { handshakeTimeout: SILENCE_MS })
    this.#socket = socket
    let heardAt = performance.now()
    const heart = setInterval(() => {
      if (performance.now() - heardAt > SILENCE_MS) socket.terminate()
      else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}')
    }, PING_MS)
    socket.on('message', (data) => {
      // What a frozen gateway still sends after we have left is not for us any more.
      if (socket.readyState !== WebSocket.OPEN) return
      heardAt = performance.now()
      this.#take(JSON.parse((data as Buffer).toString()) as Down, heardAt)
    })
    const closed = Promise.withResolvers<void>()
    socket.on('close', (code, reason) => {
      // What it asked for is said to be faulty.
      if (code === 1008) this.faults.push(`after=${this.#after}: ${reason.toString()}`)
      const isWanted = code === COME_BACK || socket === this.#dropped
      if (!isWanted) this.breaks.push(`${code} ${error}${reason.toString()}`)
      closed.resolve()
    })
    let error = ''
    // It is followed by a close.
    socket.on('error', ({ message }) => {
      error = message
    })
    if (this.#closed.signal.aborted) this.drop()
    await closed.promise
    clearInterval(heart)
  }

  #take(frame: Down, at: number): void {
    switch (frame.type) {
      case 'connection':
        this.#welcome(frame)
        return
      case 'accepted':
        this.accepted.add(frame.payload.messageId)
        // Only what was accepted before is cancelled.
        this.#uncancelled.delete(frame.payload.messageId)
        this.#unaccepted.delete(frame.payload.messageId)
        return
      case 'error':
        this.#refused(frame.payload)
        return
      case 'pong':
        return
      default:
        // Replies that are not known have no place in the stream.
        if (!('id' in frame)) return
        this.#after = frame.id
        this.received.push({ at, event: frame })
        this.#watch(frame)
    }
  }

  #watch(event: SessionEvent): void {
    const { running } = this.check
    this.check.take(event)
    if (event.type === 'turn' && event.payload.state === 'done') {
      this.#waiters.get(running ?? '')?.()
    }
  }

  #welcome({ id, payload }: Down & { type: 'connection' }): void {
    const { state, sessionId } = payload
    // The close that follows says more.
    if (state === 'reconnecting' || state === 'error') return
    if (id !== undefined && sessionId !== undefined) {
      this.start ??= { sessionId, after: id }
      this.#after ??= id
    }
    for (const [messageId, text] of this.#unaccepted) this.#send(messageId, text)
    for (const messageId of this.#uncancelled) this.#sendCancel(messageId)
  }

  #refused({ message, retryable, messageId }: (Down & { type: 'error' })['payload']): void {
    if (!retryable || messageId === undefined) {
      this.faults.push(`${messageId}: ${message}`)
      return
    }
    setTimeout(() => {
      const text = this.#unaccepted.get(messageId)
      if (text !== undefined) this.#send(messageId, text)
      if (this.#uncancelled.has(messageId)) this.#sendCancel(messageId)
    }, RETRY_MS)
  }

  #send(id: string, text: string): void {
    this.#sendFrame({ type: 'message', payload: { id, text } })
  }

  #sendCancel(messageId: string): void {
    this.#sendFrame({ type: 'cancel', payload: { messageId } })
  }

  #sendFrame(frame: object): void {
    // Before the welcome it would be answered too, but then nobody knows which session it went to.
    if (this.start === undefined || this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify(frame))
  }
}
