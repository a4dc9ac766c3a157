import type { Down } from '@mcp-host/contracts'
import type { ClientState, EndReason } from './client-state.ts'
import { GATEWAY_RESTARTS } from './client-state.ts'
import type { ConnectionFault } from './connection-fault.ts'
import { faultOf, isRefusal } from './connection-fault.ts'
import { HostError } from './host-error.ts'
import type { Channel } from './channel.ts'
import { HttpChannel } from './http-channel.ts'
import { Liveness } from './liveness.ts'
import { newId } from './new-id.ts'
import type { OutFrame } from './outbox.ts'
import { Outbox } from './outbox.ts'
import type { HostAddress } from './api/request-json.ts'
import { requestJson } from './api/request-json.ts'
import { isTransient, Resend } from './resend.ts'
import { retryDelayMs } from './retry-delay.ts'
import type { Answer, MessageExtras, Sent, SessionClientOptions } from './session-client-options.ts'
import { SocketChannel } from './socket-channel.ts'

/** The time limit for an attempt to connect. */
const CONNECT_MS = 10_000
/** A silent connection is left after this time. */
const SILENCE_MS = 30_000
/** Close code of a gateway that refuses the session or the credential. */
const REFUSED = 1008
/** Close code of a gateway that goes away in an orderly way: another one is there already. */
const RESTART = 1012
/** After so many attempts to connect, a gateway that has stopped in an orderly way is away. */
const MOST_OF_RESTART = 10
/** So many sockets in succession that cannot be opened, while HTTP works, make the client go on over HTTP. */
const UNOPENED = 2

type AnswerContent = NonNullable<Extract<OutFrame, { type: 'answer' }>['payload']['content']>

/**
 * One client of a chat session over the gateway's WebSocket, in browsers and Node. It connects again by itself, goes on
 * after the last event that it has seen, and sends again what was not accepted: nothing is lost and nothing is doubled.
 * What is said without a connection waits.
 */
export class SessionClient implements Disposable {
  readonly #options: SessionClientOptions
  readonly #outbox: Outbox
  readonly #liveness: Liveness
  /** Messages to end as soon as they are accepted. */
  readonly #toCancel = new Set<string>()
  readonly #resend = new Resend(() => this.#sendAll())
  #sessionId: string | undefined
  #lastEventId: string | undefined
  #state: ClientState = { state: 'connecting' }
  #channel: Channel | undefined
  /** The sockets in succession that were not opened, while HTTP works. */
  #unopened = 0
  #attempt = 0
  #lostAt = performance.now()
  #retry: ReturnType<typeof setTimeout> | undefined
  /** Ends an attempt to connect that is not answered. */
  #late: ReturnType<typeof setTimeout> | undefined
  /** The reason of the gateway before it closes a socket. */
  #refusal: string | undefined

  /** Begins to connect. */
  constructor(options: SessionClientOptions) {
    this.#options = options
    this.#sessionId = options.sessionId
    this.#lastEventId = options.after
    this.#outbox = new Outbox(options.outbox, options.onRefused)
    this.#liveness = new Liveness({
      silenceMs: options.silenceMs ?? SILENCE_MS,
      ping: () => this.#channel?.ping(),
      onDead: () => this.#lost('the connection is silent'),
      onAwake: () => this.#connectSoon(0),
    })
    void this.#connect()
  }

  get state(): ClientState {
    return this.#state
  }

  /** `undefined` until the first connection of a new session. */
  get sessionId(): string | undefined {
    return this.#sessionId
  }

  /** Where a later client goes on, by `after`. */
  get lastEventId(): string | undefined {
    return this.#lastEventId
  }

  /** What is not accepted yet, the oldest first. */
  get unaccepted(): readonly OutFrame[] {
    return this.#outbox.frames
  }

  /** Says something. The answer comes as events. */
  say(text: string, { id = newId(), attachments, ...extras }: MessageExtras = {}): Sent {
    const files = attachments === undefined ? {} : { attachments: [...attachments] }
    return this.#submit(id, { type: 'message', payload: { ...extras, ...files, text, id } })
  }

  /** Gets another answer to a message, on another branch. */
  regenerate(
    messageId: string,
    { id = newId(), ...extras }: Pick<MessageExtras, 'id' | 'model'> = {},
  ): Sent {
    return this.#submit(id, { type: 'regenerate', payload: { ...extras, messageId, id } })
  }

  /** Answers a question of an `input` event. The first answer of all clients counts. */
  answer({ content, ...answer }: Answer): Sent {
    // The frame has the type of what the gateway reads.
    const given = content === undefined ? {} : { content: { ...content } as AnswerContent }
    return this.#submit(answer.id, { type: 'answer', payload: { ...answer, ...given } })
  }

  /** Ends the turn of a message, also of one that is not accepted yet. A turn that has ended is no error. */
  cancel(messageId: string): void {
    if (this.#outbox.has(messageId)) {
      this.#toCancel.add(messageId)
      return
    }
    this.#submit(messageId, { type: 'cancel', payload: { messageId } })
  }

  /** Stops one tool call. Its turn goes on. Rejects with `not-found` once its turn is over. */
  cancelCall(callId: string): Sent {
    return this.#submit(callId, { type: 'cancel-call', payload: { callId } })
  }

  /** Leaves the connection for a new one, as after a change of the network that only the app knows of. */
  reconnect(): void {
    if (this.#state.state === 'reconnecting') this.#connectSoon(0)
    else this.#lost('a new connection was asked for')
  }

  /** Ends the connection. What is not accepted yet is refused, and kept by `outbox`. */
  close(): void {
    this.#end('closed', 'the client was closed')
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #submit(id: string, frame: OutFrame): Sent {
    const { state } = this.#state
    const accepted =
      state === 'ended'
        ? Promise.reject(new HostError('unavailable', 'the client has ended'))
        : this.#outbox.add(frame)
    // For callers that learn it by the events.
    accepted.catch(() => undefined)
    if (state === 'connected' && !this.#resend.isPending) this.#send(frame)
    return { id, accepted }
  }

  #sendAll(): void {
    for (const frame of this.#outbox.frames) this.#send(frame)
  }

  #send(frame: OutFrame): void {
    this.#channel?.send(frame)
  }

  async #connect(): Promise<void> {
    this.#attempt += 1
    const attempt = this.#attempt
    try {
      const address = this.#nextAddress()
      if (this.#isOverHttp) {
        this.#openHttp(address)
        return
      }
      const url = await this.#socketUrl(address)
      // Another attempt has begun, or the client has ended.
      if (attempt !== this.#attempt) return
      this.#openSocket(url, address)
    } catch (error) {
      if (attempt === this.#attempt) this.#failed(error)
    }
  }

  /** A request has failed, without which there is no connection. */
  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (isRefusal(error)) this.#end(error.status === 403 ? 'forbidden' : 'unauthenticated', message)
    else this.#lost(message, faultOf(error))
  }

  async #socketUrl(address: HostAddress): Promise<URL> {
    const url = new URL('/ws', address.url.replace(/^http/, 'ws'))
    if (this.#sessionId !== undefined) url.searchParams.set('sessionId', this.#sessionId)
    if (this.#lastEventId !== undefined) url.searchParams.set('after', this.#lastEventId)
    if (address.headers === undefined) return url
    // A WebSocket has no headers in a browser.
    const signal = AbortSignal.timeout(this.#connectTimeoutMs)
    const ticket = await requestJson(address, '/api/tickets', {
      method: 'POST',
      body: {},
      signal,
    })
    url.searchParams.set('ticket', (ticket as { readonly ticket: string }).ticket)
    return url
  }

  #openSocket(url: URL, address: HostAddress): void {
    this.#begin(
      new SocketChannel(url, {
        onFrame: (frame) => this.#hear(frame),
        onEnd: ({ code, reason, isOpened }) => {
          if (code === REFUSED) void this.#refused(address, this.#refusal ?? reason)
          else if (code === RESTART) this.#lost(GATEWAY_RESTARTS, 'restart')
          else {
            this.#lost(`the connection was lost (${code})`)
            if (!isOpened) void this.#diagnose(address)
          }
        },
      }),
      address,
    )
  }

  #openHttp(address: HostAddress): void {
    this.#begin(
      new HttpChannel(address, {
        sessionId: this.#sessionId,
        after: this.#lastEventId,
        onFrame: (frame) => this.#hear(frame),
        onAlive: () => this.#liveness.heard(),
        onLost: (error) => {
          const isOfHost = error instanceof HostError && !error.isForeign
          const isRefused = isOfHost && (error.status === 400 || error.status === 404)
          if (isRefused) this.#end('refused', error.message)
          else this.#failed(error)
        },
      }),
      address,
    )
  }

  #begin(channel: Channel, address: HostAddress): void {
    // An attempt may still be open, when the network came back.
    this.#drop()
    this.#channel = channel
    this.#late = setTimeout(() => {
      this.#lost('no gateway answers')
      void this.#diagnose(address)
    }, this.#connectTimeoutMs)
  }

  #hear(frame: Down): void {
    this.#liveness.heard()
    this.#take(frame)
  }

  /** Finds out by a plain request why a socket was not opened, which browsers do not tell. */
  async #diagnose(address: HostAddress): Promise<void> {
    const signal = AbortSignal.timeout(this.#connectTimeoutMs)
    const error = await requestJson(address, '/api/me', { signal }).then(
      () => undefined,
      (failure: Error) => failure,
    )
    const state = this.#state
    if (state.state !== 'reconnecting') return
    if (error === undefined) {
      if (!this.#isOverHttp) this.#unopened += 1
      return
    }
    this.#unopened = 0
    if (isRefusal(error)) {
      this.#failed(error)
      return
    }
    const fault = faultOf(error)
    const mayRestart = state.fault === 'restart' && state.attempt <= MOST_OF_RESTART
    if (!mayRestart || fault === 'stranger')
      this.#setState({ ...state, fault, reason: error.message })
  }

  get #isOverHttp(): boolean {
    return this.#unopened >= UNOPENED
  }

  #take(frame: Down): void {
    // Frames about this socket say nothing of the session's stream.
    if ('id' in frame && frame.id !== undefined) this.#lastEventId = frame.id
    switch (frame.type) {
      case 'connection': {
        const { state, message, sessionId } = frame.payload
        if (state === 'error') this.#refusal = message
        if (sessionId !== undefined && (state === 'connected' || state === 'reconnected')) {
          this.#connected(sessionId, message)
        }
        return
      }
      case 'accepted': {
        const { messageId, duplicate } = frame.payload
        this.#resend.succeed()
        this.#outbox.accepted(messageId, duplicate)
        if (this.#toCancel.delete(messageId)) this.cancel(messageId)
        return
      }
      case 'error':
        this.#onError(frame.payload)
        return
      case 'pong':
        return
      default:
        this.#options.onEvent(frame)
        if (frame.type === 'session') this.#end('deleted', 'the session was deleted')
    }
  }

  #onError(error: Extract<Down, { type: 'error' }>['payload']): void {
    const { messageId = '', code, message, field } = error
    if (isTransient(error) && this.#outbox.has(messageId) && this.#resend.begin()) return
    this.#toCancel.delete(messageId)
    const refusal = new HostError(code, message, field === undefined ? {} : { field })
    this.#outbox.refused(messageId, refusal)
    this.#options.onError?.(refusal, messageId)
  }

  #connected(sessionId: string, message: string): void {
    this.#sessionId = sessionId
    this.#attempt = 0
    const over = this.#channel instanceof HttpChannel ? 'http' : 'socket'
    if (over === 'socket') this.#unopened = 0
    this.#refusal = undefined
    clearTimeout(this.#late)
    // An earlier attempt may have succeeded before the next one.
    clearTimeout(this.#retry)
    this.#liveness.begin()
    this.#setState({ state: 'connected', sessionId, message, over })
    this.#sendAll()
  }

  /** The connection is over, and another one may do. */
  #lost(reason: string, found?: ConnectionFault): void {
    const before = this.#state
    if (before.state === 'ended') return
    // What was found out at an earlier attempt is still the best guess.
    const fault = found ?? (before.state === 'reconnecting' ? before.fault : undefined)
    if (before.state === 'connected') this.#lostAt = performance.now()
    // A socket may be possible again, as in another network. One that is not is enough to go on over HTTP.
    if (this.#channel instanceof HttpChannel) this.#unopened = UNOPENED - 1
    this.#drop()
    const { giveUpAfterMs = Infinity } = this.#options
    if (performance.now() - this.#lostAt >= giveUpAfterMs) {
      this.#end('unreachable', reason)
      return
    }
    const attempt = this.#attempt + 1
    this.#setState({ state: 'reconnecting', reason, attempt, ...(fault && { fault }) })
    this.#connectSoon(retryDelayMs(attempt))
  }

  #connectSoon(delayMs: number): void {
    if (this.#state.state !== 'reconnecting') return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.#connect(), delayMs)
  }

  /** The gateway refuses the session, or the credential. */
  async #refused(address: HostAddress, reason: string): Promise<void> {
    this.#drop()
    try {
      const signal = AbortSignal.timeout(this.#connectTimeoutMs)
      await requestJson(address, '/api/me', { signal })
      this.#end('refused', reason)
    } catch (error) {
      if (isRefusal(error)) this.#failed(error)
      else this.#lost(reason)
    }
  }

  #end(why: EndReason, message: string): void {
    if (this.#state.state === 'ended') return
    this.#attempt += 1
    clearTimeout(this.#retry)
    this.#drop()
    this.#liveness[Symbol.dispose]()
    this.#outbox.end(new HostError('unavailable', message))
    this.#setState({ state: 'ended', why, message })
  }

  #drop(): void {
    this.#liveness.pause()
    this.#resend.clear()
    clearTimeout(this.#late)
    const channel = this.#channel
    this.#channel = undefined
    channel?.close()
  }

  #nextAddress(): HostAddress {
    const { url, headers } = this.#options
    return { url: typeof url === 'string' ? url : url(), headers }
  }

  get #connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs ?? CONNECT_MS
  }

  #setState(state: ClientState): void {
    this.#state = state
    this.#options.onState?.(state)
  }
}
