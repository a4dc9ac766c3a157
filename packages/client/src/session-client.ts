import type { Down, SessionEvent, ToolProgressDown } from '@mcp-host/contracts'
import type { ClientState, EndReason } from './client-state.ts'
import { GATEWAY_RESTARTS } from './client-state.ts'
import { HostError } from './host-error.ts'
import { Liveness } from './liveness.ts'
import { newId } from './new-id.ts'
import type { OutboxStore, OutFrame } from './outbox.ts'
import { Outbox } from './outbox.ts'
import type { HostAddress } from './request-json.ts'
import { requestJson } from './request-json.ts'
import { Resend } from './resend.ts'
import { retryDelayMs } from './retry-delay.ts'

/** The time limit for an attempt to connect. */
const CONNECT_MS = 10_000
/** A silent connection is left after this time. */
const SILENCE_MS = 30_000
/** Close code of a gateway that refuses the session or the credential. */
const REFUSED = 1008
/** Close code of a gateway that goes away in an orderly way: another one is there already. */
const RESTART = 1012

/** What a session tells its clients. Only events with an `id` are repeated to a client that resumes. */
export type ClientEvent = SessionEvent | ToolProgressDown | Extract<Down, { type: 'queue' }>

export interface SessionClientOptions extends Omit<HostAddress, 'url'> {
  /** Base URL of a gateway, as `https://mcp.example.com`. A function is called for each attempt to connect. */
  readonly url: string | (() => string)
  /** The session to join. Default: a new one. */
  readonly sessionId?: string
  /** Id of the last known event: those after it follow. Default: those of the running turn, or new ones. */
  readonly after?: string
  readonly onEvent: (event: ClientEvent) => void
  readonly onState?: (state: ClientState) => void
  /** Keeps messages that are not accepted yet, beyond the life of this client. */
  readonly outbox?: OutboxStore
  /** Called when the gateway refuses a frame that an earlier client has left in `outbox`. */
  readonly onRefused?: (id: string, error: Error) => void
  /**
   * Called when the gateway refuses a frame for good, also a cancel. `messageId`: of the frame, empty if the gateway could
   * not read it.
   */
  readonly onError?: (error: HostError, messageId: string) => void
  /** Without a connection for so long, the client ends. Default: it tries for ever. */
  readonly giveUpAfterMs?: number
  /** The time limit for each attempt to connect. Default: 10 s. */
  readonly connectTimeoutMs?: number
  /** A connection on which nothing comes for so long, in spite of a ping, is left. Default: 30 s. */
  readonly silenceMs?: number
}

export interface MessageExtras {
  /** Of the message. Default: a new one. */
  readonly id?: string
  /** Id of the message that this one replaces: another branch begins in its place. */
  readonly replaces?: string
  /** Id of the message that this one follows: its branch goes on. Default: the newest message. */
  readonly follows?: string
  /** `provider/model` or `provider`. Default: the session's. */
  readonly model?: string
  /** Keys of `HostApi.storeFile`. */
  readonly attachments?: readonly string[]
}

/** The answer of a user to the question of an `input` event. */
export interface Answer {
  /** Of the question. */
  readonly id: string
  readonly action: 'accept' | 'decline' | 'cancel'
  /** With `accept`: the values of the fields of its schema. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

type AnswerContent = NonNullable<Extract<OutFrame, { type: 'answer' }>['payload']['content']>

/** A frame on its way. */
export interface Sent {
  /** Of the message. */
  readonly id: string
  /** Resolves once the message is stored: it is answered whatever dies then. Rejects with `HostError` when it is refused. */
  readonly accepted: Promise<{ readonly duplicate: boolean }>
}

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
  #socket: WebSocket | undefined
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
      ping: () => this.#socket?.send('{"type":"ping"}'),
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
    this.#socket?.send(JSON.stringify(frame))
  }

  async #connect(): Promise<void> {
    this.#attempt += 1
    const attempt = this.#attempt
    try {
      const address = this.#nextAddress()
      const url = await this.#socketUrl(address)
      // Another attempt has begun, or the client has ended.
      if (attempt !== this.#attempt) return
      this.#open(new WebSocket(url), address)
    } catch (error) {
      if (attempt !== this.#attempt) return
      if (isRefusal(error)) this.#end('unauthenticated', error.message)
      else this.#lost(error instanceof Error ? error.message : String(error))
    }
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

  #open(socket: WebSocket, address: HostAddress): void {
    // An attempt may still be open, when the network came back.
    this.#drop()
    this.#socket = socket
    const isStale = (): boolean => this.#socket !== socket
    this.#late = setTimeout(() => this.#lost('no gateway answers'), this.#connectTimeoutMs)
    socket.addEventListener('message', ({ data }) => {
      if (isStale()) return
      this.#liveness.heard()
      // A frame of a later version has a type that no listener knows.
      this.#take(JSON.parse(String(data)) as Down)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (isStale()) return
      if (code === REFUSED) void this.#refused(address, this.#refusal ?? reason)
      else this.#lost(code === RESTART ? GATEWAY_RESTARTS : `the connection was lost (${code})`)
    })
    // A close event follows.
    socket.addEventListener('error', () => undefined)
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
    this.#refusal = undefined
    clearTimeout(this.#late)
    // An earlier attempt may have succeeded before the next one.
    clearTimeout(this.#retry)
    this.#liveness.begin()
    this.#setState({ state: 'connected', sessionId, message })
    this.#sendAll()
  }

  /** The connection is over, and another one may do. */
  #lost(reason: string): void {
    if (this.#state.state === 'ended') return
    if (this.#state.state === 'connected') this.#lostAt = performance.now()
    this.#drop()
    const { giveUpAfterMs = Infinity } = this.#options
    if (performance.now() - this.#lostAt >= giveUpAfterMs) {
      this.#end('unreachable', reason)
      return
    }
    const attempt = this.#attempt + 1
    this.#setState({ state: 'reconnecting', reason, attempt })
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
      if (isRefusal(error)) this.#end('unauthenticated', error.message)
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
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
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

/** Whether the host could not store a frame, but may store it soon. */
function isTransient({ code, reason }: Extract<Down, { type: 'error' }>['payload']): boolean {
  return (code === 'unavailable' || code === 'deadline') && reason !== 'maintenance'
}

function isRefusal(error: unknown): error is HostError {
  return error instanceof HostError && (error.status === 401 || error.status === 403)
}
