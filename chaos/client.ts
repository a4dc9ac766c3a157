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
/** The code with which a gateway refuses what a client asks for, and how it says that `after` was lost. */
const REFUSED = 1008
const AFTER_IS_LOST = 'connect without it'

export interface ClientOptions {
  /** Of all gateways. */
  readonly urls: readonly string[]
  /** Which of them comes first. */
  readonly first: number
  /** Watches the stream. */
  readonly check: StreamCheck
  /** Watches the stream that begins when the last id was lost with damaged data; without it that is a fault. */
  readonly checkAnew?: (() => StreamCheck) | undefined
  /** Where to join a session that there is; without it the first gateway gives a new one. */
  readonly join?: { readonly sessionId: string; readonly after: string }
}

/** An event and when it came, in milliseconds of `performance.now()`. */
export interface Received {
  readonly at: number
  readonly event: SessionEvent
}

/** A client's stream began anew, because the host had lost the event of its last id. */
export interface Restart {
  /** The last id before. */
  readonly lost: string
  /** How many events were received before. */
  readonly index: number
  /** Where the stream began again; empty until it did. */
  from: string
}

/**
 * A chat client as the protocol wants it: it connects to any gateway, comes back with its last id, and
 * sends again by the same id what was not accepted. Keeps all that it was sent.
 */
export class Client implements AsyncDisposable {
  readonly received: Received[] = []
  /** Messages the gateway said it has, and when, in milliseconds of `performance.now()`. */
  readonly accepted = new Map<string, number>()
  /** What a gateway answered that it must not. */
  readonly faults: { readonly detail: string; readonly message?: string | undefined }[] = []
  /** How its connections ended, apart from those that were closed with "come back" or that it dropped itself. */
  readonly breaks: string[] = []
  /** Of the streams one after another: one more than there are restarts. */
  readonly checks: StreamCheck[]
  readonly restarts: Restart[] = []
  /** Messages whose end is not waited for any more. */
  readonly givenUp = new Set<string>()
  /** Where the stream began, once there is a session. */
  start: { readonly sessionId: string; readonly after: string } | undefined
  readonly #urls: readonly string[]
  readonly #unaccepted = new Map<string, string>()
  /** Messages whose turns are to end, until that is accepted. */
  readonly #uncancelled = new Set<string>()
  readonly #waiters = new Map<string, { readonly end: () => void; readonly at: number }>()
  readonly #checkAnew: (() => StreamCheck) | undefined
  readonly #closed = new AbortController()
  readonly #life: Promise<void>
  #next: number
  #after: string | undefined
  #socket: WebSocket | undefined
  /** The one that it dropped last. */
  #dropped: WebSocket | undefined

  constructor({ urls, first, check, checkAnew, join }: ClientOptions) {
    this.#urls = urls
    this.#next = first
    this.checks = [check]
    this.#checkAnew = checkAnew
    this.start = join
    this.#after = join?.after
    this.#life = this.#live()
  }

  /** Of the stream that goes on. */
  get check(): StreamCheck {
    const last = this.checks.at(-1)
    if (last === undefined) throw new Error('a client has at least one stream')
    return last
  }

  /** Says something; resolves when its turn has ended in the stream, or is given up. */
  async say(id: string, text: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    this.#waiters.set(id, { end: ended.resolve, at: performance.now() })
    this.#unaccepted.set(id, text)
    this.#send(id, text)
    await ended.promise
    this.#waiters.delete(id)
  }

  /** No longer waits for the ends of turns whose accepted messages were said before a time. */
  giveUp(before: number): void {
    for (const [id, { end, at }] of this.#waiters) {
      if (at >= before || !this.accepted.has(id)) continue
      this.givenUp.add(id)
      end()
    }
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
      if (code === REFUSED) this.#onRefusal(reason.toString())
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
        this.accepted.set(frame.payload.messageId, at)
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
      this.#waiters.get(running ?? '')?.end()
    }
  }

  #onRefusal(reason: string): void {
    const lost = this.#after
    if (lost === undefined || this.#checkAnew === undefined || !reason.includes(AFTER_IS_LOST)) {
      this.faults.push({ detail: `after=${lost}: ${reason}` })
      return
    }
    this.#after = undefined
    this.restarts.push({ lost, index: this.received.length, from: '' })
    this.checks.push(this.#checkAnew())
  }

  #welcome({ id, payload }: Down & { type: 'connection' }): void {
    const { state, sessionId } = payload
    // The close that follows says more.
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
      // It is not asked again.
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
    // Before the welcome it would be answered too, but then nobody knows which session it went to.
    if (this.start === undefined || this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify(frame))
  }
}
