import type { EventSource } from './event-id.ts'
import { eventIds } from './event-id.ts'
import type { EventQueue } from './event-queue.ts'
import { event, outgoing, priming, progress } from './messages.ts'
import type { ReplyListener } from '../servers.ts'

export interface RequestStreamOptions extends Omit<EventSource, 'kept'> {
  /** Whether the client accepts events without a message: it can then reconnect before the first message. */
  readonly isPrimed: boolean
  /** The time after which such a client has to reconnect, in milliseconds; 0: never. */
  readonly limitMs: number
  /** Aborts when clients that can resume have to reconnect, at another gateway. */
  readonly closing: AbortSignal
  /** Called when the stream begins. */
  readonly open: () => EventQueue
}

/** The reply to one request as server-sent events. They have ids once the request is resumable. */
export class RequestStream implements ReplyListener {
  readonly #options: RequestStreamOptions
  #queue: EventQueue | undefined
  #ids: ReturnType<typeof eventIds>
  #limit: ReturnType<typeof setTimeout> | undefined
  /** Whether the client has received an event id, with which it can resume. */
  #canComeBack = false

  constructor(options: RequestStreamOptions) {
    this.#options = options
  }

  onNotice(method: string, said: string, number?: number): void {
    const { progressToken: token } = this.#options
    if (method !== 'notifications/progress') this.#mention(outgoing(method, said), number)
    // Only a client that asked for progress can relate it to its request.
    else if (token !== undefined) this.#mention(progress(token, said), number)
  }

  onAsk(ask: string, method: string, said: string, number?: number): void {
    const id = this.#idOf(number)
    this.events().put(event(outgoing(method, said, ask), id))
    if (id !== undefined) this.#identified()
  }

  /** Makes the request resumable. `number`: the last event that the client has. */
  onResumable(kept: EventSource['kept'], number = 0): void {
    const { isPrimed, limitMs, closing } = this.#options
    if (this.#ids === undefined) closing.addEventListener('abort', this.#sendAway)
    this.#ids = eventIds({ ...this.#options, kept })
    const id = this.#idOf(number)
    if (id === undefined || !isPrimed) return
    this.events().put(priming(id))
    if (limitMs > 0) this.#limit = setTimeout(() => this.stop(), limitMs)
    this.#identified()
  }

  /** The client's event queue; the stream starts with the first call. */
  events(): EventQueue {
    this.#queue ??= this.#options.open()
    return this.#queue
  }

  /** Ends the stream with a message. Returns `false` when the stream has not begun; it then does not begin. */
  end(message: Uint8Array): boolean {
    this.#queue?.put(event(message, this.#idOf('end')))
    return this.stop()
  }

  /** Ends the stream without a message. Returns `false` when it has not begun; it then does not begin. */
  stop(): boolean {
    clearTimeout(this.#limit)
    this.#options.closing.removeEventListener('abort', this.#sendAway)
    this.#queue?.end()
    return this.#queue !== undefined
  }

  #mention(message: Uint8Array, number: number | undefined): void {
    const id = this.#idOf(number)
    // A client that can resume gets every event, so none is replaced.
    if (id === undefined) this.events().putReplaceable(event(message))
    else {
      this.events().put(event(message, id))
      this.#identified()
    }
  }

  #identified(): void {
    this.#canComeBack = true
    if (this.#options.closing.aborted) this.stop()
  }

  readonly #sendAway = (): void => {
    if (this.#canComeBack) this.stop()
  }

  #idOf(number: number | 'end' | undefined): string | undefined {
    return number === undefined ? undefined : this.#ids?.(number)
  }
}
