import type { Down } from '@mcp-host/contracts'
import type { Channel } from './channel.ts'
import { HostError } from './host-error.ts'
import type { OutFrame } from './outbox.ts'
import { idOf } from './outbox.ts'
import { readEvents } from './read-events.ts'
import type { HostAddress } from './api/request-json.ts'
import { request, requestJson } from './api/request-json.ts'
import type { SseData } from './to-down.ts'
import { ToDown } from './to-down.ts'

export interface HttpChannelOptions {
  /** Default: a new session. */
  readonly sessionId: string | undefined
  /** Id of the last known event. */
  readonly after: string | undefined
  readonly onFrame: (frame: Down) => void
  /** Something has come, be it no frame. */
  readonly onAlive: () => void
  /** The channel has ended. */
  readonly onLost: (error: unknown) => void
}

/** A session over HTTP and server-sent events, where no WebSocket can be opened. It has the frames of a socket. */
export class HttpChannel implements Channel {
  readonly #address: HostAddress
  readonly #options: HttpChannelOptions
  readonly #closed = new AbortController()
  #path = ''
  /** Frames are sent in their order. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(address: HostAddress, options: HttpChannelOptions) {
    this.#address = address
    this.#options = options
    this.#follow().then(
      () => this.#lost(new Error('the stream has ended')),
      (error: unknown) => this.#lost(error),
    )
  }

  send(frame: OutFrame): void {
    this.#last = this.#last.then(() => this.#post(frame))
  }

  ping(): void {
    // The stream shows by itself that it is alive.
  }

  close(): void {
    this.#closed.abort()
  }

  async #follow(): Promise<void> {
    const { sessionId = await this.#newSession(), after, onFrame, onAlive } = this.#options
    this.#path = `/api/chat/session/${encodeURIComponent(sessionId)}`
    const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
    const { signal } = this.#closed
    const { body } = await request(this.#address, `${this.#path}/events${query}`, { signal })
    if (body === null) return
    const state = after === undefined ? 'connected' : 'reconnected'
    // An id of a session is branded.
    onFrame({ type: 'connection', payload: { state, message: '', sessionId } } as Down)
    const toDown = new ToDown()
    for await (const { id, data } of readEvents(body)) {
      if (signal.aborted) return
      onAlive()
      if (data === '') continue
      // Sockets do not know the ids within a frame of several events.
      const place = id?.includes('~') === true ? undefined : id
      // An event of a later version has a type that is passed over.
      const frame = toDown.frame(JSON.parse(data) as SseData, place)
      if (frame !== undefined) onFrame(frame)
    }
  }

  async #newSession(): Promise<string> {
    const options = { method: 'POST', body: {}, signal: this.#closed.signal } as const
    const made = await requestJson(this.#address, '/api/chat/session', options)
    return (made as { readonly sessionId: string }).sessionId
  }

  async #post(frame: OutFrame): Promise<void> {
    const { signal } = this.#closed
    const messageId = idOf(frame)
    const [path, body] = requestOf(frame)
    try {
      const answer = await request(this.#address, `${this.#path}/${path}`, {
        method: 'POST',
        body,
        signal,
      })
      // The answer to a message is its turn, which the stream has, too.
      await answer.body?.cancel()
      this.#take({ type: 'accepted', payload: { messageId, duplicate: false } })
    } catch (error) {
      if (error instanceof HostError && error.status !== undefined && !error.isForeign) {
        const { code, message, field, reason } = error
        // The gateway gives its codes and reasons in both ways.
        this.#take({ type: 'error', payload: { code, message, field, reason, messageId } } as Down)
      } else this.#lost(error)
    }
  }

  #take(frame: Down): void {
    if (!this.#closed.signal.aborted) this.#options.onFrame(frame)
  }

  #lost(error: unknown): void {
    if (this.#closed.signal.aborted) return
    this.close()
    this.#options.onLost(error)
  }
}

/** The end of the path, and the body, of the request in place of a frame. */
function requestOf({ type, payload }: OutFrame): [string, unknown] {
  switch (type) {
    case 'message': {
      const { text: message, ...rest } = payload
      return ['message', { ...rest, message }]
    }
    case 'regenerate':
      return ['regenerate', payload]
    case 'cancel':
      return ['abort', payload]
    case 'cancel-call':
      return ['abort-call', payload]
    case 'answer':
      return ['answer', payload]
    default:
      return type satisfies never
  }
}
