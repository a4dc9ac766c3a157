import type { ClientEvent, ClientState } from '@mcp-host/client'
import { GATEWAY_RESTARTS, HostError, SessionClient } from '@mcp-host/client'
import type { SessionEvent } from '@mcp-host/contracts'
import type { StreamCheck } from './check/stream-check.ts'

/** A gateway that sends nothing for this long is considered dead. */
const SILENCE_MS = 2_500
/** The part of the reason of a gateway that reports that `after` was lost. */
const AFTER_IS_LOST = 'connect without it'
/** The part of the answer of a stopping gateway to a request for a ticket. */
const GOING_DOWN = 'is going down'

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

/** Connects to any gateway by the client package, and stores all received events. */
export class Client implements Disposable {
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
  readonly #headers: Credential | undefined
  readonly #unaccepted = new Map<string, string>()
  /** Messages whose turns were cancelled. */
  readonly #cancelled = new Set<string>()
  readonly #waiters = new Map<string, { readonly end: () => void; readonly at: number }>()
  readonly #makeCheck: (() => StreamCheck) | undefined
  #next: number
  #isDropping = false
  #client: SessionClient

  constructor({ urls, first, check, makeCheck, headers, join }: ClientOptions) {
    this.#urls = urls
    this.#headers = headers
    this.#next = first
    this.checks = [check]
    this.#makeCheck = makeCheck
    this.start = join
    this.#client = this.#open(join)
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
    this.#cancelled.add(id)
    this.#client.cancel(id)
  }

  /** Leaves the connection for one to another gateway, as after a change of the network. */
  drop(): void {
    this.#isDropping = true
    this.#client.reconnect()
    this.#isDropping = false
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  #open(join: { readonly sessionId: string; readonly after?: string } | undefined): SessionClient {
    const headers = this.#headers
    return new SessionClient({
      ...join,
      url: () => this.#urls[this.#next++ % this.#urls.length] ?? '',
      ...(headers === undefined ? {} : { headers: () => headers }),
      connectTimeoutMs: SILENCE_MS,
      silenceMs: SILENCE_MS,
      onEvent: (event) => this.#take(event),
      onState: (state) => this.#onState(state),
      onError: (error, message) => {
        if (!isTransient(error))
          this.faults.push({ detail: `${message}: ${error.message}`, message })
      },
    })
  }

  #send(id: string, text: string): void {
    const client = this.#client
    client.say(text, { id }).accepted.then(
      () => {
        this.accepted.set(id, performance.now())
        this.#unaccepted.delete(id)
      },
      (error: unknown) => {
        // The next client sends it again.
        if (client.state.state === 'ended') return
        // The client has tried for long enough, but the fault lasts.
        if (isTransient(error)) this.#send(id, text)
      },
    )
  }

  #take(event: ClientEvent): void {
    // Frames without an id are not part of the stream.
    if (!('id' in event)) return
    this.received.push({ at: performance.now(), event })
    const { running } = this.check
    this.check.take(event)
    if (event.type === 'turn' && event.payload.state === 'done') {
      this.#waiters.get(running ?? '')?.end()
    }
  }

  #onState(state: ClientState): void {
    switch (state.state) {
      case 'connecting':
        return
      case 'connected': {
        const after = this.#client.lastEventId ?? ''
        this.start ??= { sessionId: state.sessionId, after }
        const restart = this.restarts.at(-1)
        if (restart !== undefined) restart.from ||= after
        return
      }
      case 'reconnecting':
        if (!this.#isExpected(state.reason)) this.breaks.push(state.reason)
        return
      case 'ended':
        if (state.why !== 'closed') this.#onEnd(state.message)
        return
      default:
        return state satisfies never
    }
  }

  #isExpected(reason: string): boolean {
    return this.#isDropping || reason === GATEWAY_RESTARTS || reason.includes(GOING_DOWN)
  }

  #onEnd(reason: string): void {
    const lost = this.#client.lastEventId
    const { start } = this
    const isLoss = reason.includes(AFTER_IS_LOST) && this.#makeCheck !== undefined
    if (!isLoss || lost === undefined || start === undefined) {
      this.faults.push({ detail: `after=${lost}: ${reason}` })
      return
    }
    this.restarts.push({ lost, index: this.received.length, from: '' })
    this.checks.push(this.#makeCheck())
    this.#client = this.#open({ sessionId: start.sessionId })
    for (const [id, text] of this.#unaccepted) this.#send(id, text)
    for (const id of this.#cancelled) if (this.#waiters.has(id)) this.#client.cancel(id)
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof HostError && (error.code === 'unavailable' || error.code === 'deadline')
}
