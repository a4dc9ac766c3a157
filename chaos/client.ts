import { setTimeout as delay } from 'node:timers/promises'
import type { Down, SessionEvent } from '@mcp-host/contracts'
import { WebSocket } from 'ws'
import type { StreamCheck } from './check/stream-check.ts'

/** A gateway that sends nothing for this long is considered dead. */
const SILENCE_MS = 2_500
const PING_MS = 800
const RETRY_MS = 150
/** Close code of a gateway that stops. */
const RECONNECT = 1012
/** Close code of a gateway that refuses the request, and the part of its reason that reports that `after` was lost. */
const REFUSED = 1008
const AFTER_IS_LOST = 'connect without it'

/** Headers that authenticate a client. */
export type Credential = Readonly<Record<string, string>>

export interface ClientOptions {
  /** URLs of all gateways. */
  readonly urls: readonly string[]
  /** Index of the first gateway. */
  readonly first: number
  /** Checks the stream. */
  readonly check: StreamCheck
  /** Makes the check of a stream that restarts after its last event was lost. Without it, that loss is a fault. */
  readonly makeCheck?: (() => StreamCheck) | undefined
  /** Sent with each connection. */
  readonly headers?: Credential | undefined
  /** The session to join, and the id to continue after. Default: a new session. */
  readonly join?: { readonly sessionId: string; readonly after: string }
}

/** An event and its arrival time, by `performance.now()`. */
export interface Received {
  readonly at: number
  readonly event: SessionEvent
}

/** A restart of a stream, because the host had lost the event of its last id. */
export interface Restart {
  /** The lost id. */
  readonly lost: string
  /** The number of events before the restart. */
  readonly index: number
  /** The id at which the stream continues. Empty until it does. */
  from: string
}

/**
 * A chat client that follows the protocol: it connects to any gateway, reconnects with its last id, and resends
 * unaccepted messages with the same id. Stores all received events.
 */
export class Client implements AsyncDisposable {
  readonly received: Received[] = []
  /** The times at which messages were accepted, by `performance.now()`. */
  readonly accepted = new Map<string, number>()
  /** Replies that a gateway must not send. */
  readonly faults: { readonly detail: string; readonly message?: string | undefined }[] = []
  /** The ends of connections, except those that `drop` or a stopping gateway closed. */
  readonly breaks: string[] = []
  /** The checks of the streams: one more than restarts. */
  readonly checks: StreamCheck[]
  readonly restarts: Restart[] = []
  /** Messages whose turns are given up. */
  readonly givenUp = new Set<string>()
  /** The session and the id at which the stream began, once there is a session. */
  start: { readonly sessionId: string; readonly after: string } | undefined
  readonly #urls: readonly string[]
  readonly #headers: Credential
  readonly #unaccepted = new Map<string, string>()
  /** Messages whose cancel is not accepted yet. */
  readonly #uncancelled = new Set<string>()
  readonly #waiters = new Map<string, { readonly end: () => void; readonly at: number }>()
  readonly #makeCheck: (() => StreamCheck) | undefined
  readonly #closed = new AbortController()
  readonly #life: Promise<void>
  #next: number
  #after: string | undefined
  #socket: WebSocket | undefined
  /** The socket that `drop` closed last. */
  #dropped: WebSocket | undefined

  constructor({ urls, first, check, makeCheck, headers = {}, join }: ClientOptions) {
    this.#urls = urls
    this.#headers = headers
    this.#next = first
    this.checks = [check]
    this.#makeCheck = makeCheck
    this.start = join
    this.#after = join?.after
    this.#life = this.#live()
  }

  /** The check of the current stream. */
  get check(): StreamCheck {
    const last = this.checks.at(-1)
    if (last === undefined) throw new Error('a client has at least one stream')
    return last
  }

  /** Sends a message. Resolves when its turn has ended in the stream, or is given up. */
  async say(id: string, text: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    this.#waiters.set(id, { end: ended.resolve, at: performance.now() })
    this.#unaccepted.set(id, text)
    this.#send(id, text)
    await ended.promise
    this.#waiters.delete(id)
  }

  /** Gives up the turns of accepted messages that were sent before a time. */
  giveUp(before: number): void {
    for (const [id, { end, at }] of this.#waiters) {
      if (at >= before || !this.accepted.has(id)) continue
      this.givenUp.add(id)
      end()
    }
  }

  /** Cancels the turn of an accepted message. */
  cancel(id: string): void {
    this.#uncancelled.add(id)
    this.#sendCancel(id)
  }

  /** Loses the connection, as on a bad network. */
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

  /** Runs one connection until it is closed. */
  async #connection(): Promise<void> {
    const url = new URL('/ws', this.#urls[this.#next++ % this.#urls.length]?.replace('http', 'ws'))
    if (this.start !== undefined) url.searchParams.set('sessionId', this.start.sessionId)
    if (this.#after !== undefined) url.searchParams.set('after', this.#after)
    const socket = new WebSocket(url, { handshakeTimeout: SILENCE_MS, headers: this.#headers })
    this.#socket = socket
    let receivedAt = performance.now()
    const heart = setInterval(() => {
      if (performance.now() - receivedAt > SILENCE_MS) socket.terminate()
      else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}')
    }, PING_MS)
    socket.on('message', (data) => {
      // Ignores frames that a frozen gateway sends after this client has left.
      if (socket.readyState !== WebSocket.OPEN) return
      receivedAt = performance.now()
      this.#take(JSON.parse((data as Buffer).toString()) as Down, receivedAt)
    })
    const closed = Promise.withResolvers<void>()
    socket.on('close', (code, reason) => {
      if (code === REFUSED) this.#onRefusal(reason.toString())
      const isExpected = code === RECONNECT || socket === this.#dropped
      if (!isExpected) this.breaks.push(`${code} ${error}${reason.toString()}`)
      closed.resolve()
    })
    let error = ''
    // A close follows.
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
        this.accepted.set(frame.payload.messageId, at)
        // Only accepted messages are cancelled, so this is the reply to the cancel.
        this.#uncancelled.delete(frame.payload.messageId)
        this.#unaccepted.delete(frame.payload.messageId)
        return
      case 'error':
        this.#refused(frame.payload)
        return
      case 'pong':
        return
      default:
        // Frames without an id are not part of the stream.
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
      this.#waiters.get(running ?? '')?.end()
    }
  }

  #onRefusal(reason: string): void {
    const lost = this.#after
    if (lost === undefined || this.#makeCheck === undefined || !reason.includes(AFTER_IS_LOST)) {
      this.faults.push({ detail: `after=${lost}: ${reason}` })
      return
    }
    this.#after = undefined
    this.restarts.push({ lost, index: this.received.length, from: '' })
    this.checks.push(this.#makeCheck())
  }

  #welcome({ id, payload }: Down & { type: 'connection' }): void {
    const { state, sessionId } = payload
    // The close that follows has the reason.
    if (state === 'reconnecting' || state === 'error') return
    if (id !== undefined && sessionId !== undefined) {
      this.start ??= { sessionId, after: id }
      this.#after ??= id
      const restart = this.restarts.at(-1)
      if (restart !== undefined) restart.from ||= id
    }
    for (const [messageId, text] of this.#unaccepted) this.#send(messageId, text)
    for (const messageId of this.#uncancelled) this.#sendCancel(messageId)
  }

  #refused({ message, retryable, messageId }: (Down & { type: 'error' })['payload']): void {
    if (!retryable || messageId === undefined) {
      this.faults.push({ detail: `${messageId}: ${message}`, message: messageId })
      // The cancel is not repeated.
      this.#uncancelled.delete(messageId ?? '')
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
    // Before the welcome the session is unknown.
    if (this.start === undefined || this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify(frame))
  }
}
