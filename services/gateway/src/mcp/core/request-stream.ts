import type { EventSource } from './event-id.ts'
import { eventIds } from './event-id.ts'
import { EventQueue } from './event-queue.ts'
import { event, outgoing, priming, progress } from './messages.ts'
import type { ReplyListener } from './upstream.ts'

export interface RequestStreamOptions extends Omit<EventSource, 'kept'> {
  /** Whether the client knows events that say nothing: it can then come back before the first that does. */
  readonly isPrimed: boolean
  /** After so many milliseconds such a client is left to come back; 0: never. */
  readonly limitMs: number
  /** Aborts when a client that can come back has to: at another gateway. */
  readonly closing: AbortSignal
  /** Told when there is something to say. */
  readonly onBegin?: (events: EventQueue) => void
}

/** The reply to one request as server-sent events. They have ids once the request is resumable. */
export class RequestStream implements ReplyListener {
  readonly #options: RequestStreamOptions
  #queue: EventQueue | undefined
  #ids: ReturnType<typeof eventIds>
  #limit: ReturnType<typeof setTimeout> | undefined
  /** Whether the client has an id to come back with. */
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

  /** The request is resumable from now on; `number`: the last event that the client has. */
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
    if (this.#queue === undefined) {
      this.#queue = new EventQueue()
      this.#options.onBegin?.(this.#queue)
    }
    return this.#queue
  }

  /** Ends with a message. `false`: it has not begun, and does not. */
  end(message: Uint8Array): boolean {
    this.#queue?.put(event(message, this.#idOf('end')))
    return this.stop()
  }

  /** Ends here, as nothing more comes. `false`: it has not begun, and does not. */
  stop(): boolean {
    clearTimeout(this.#limit)
    this.#options.closing.removeEventListener('abort', this.#sendAway)
    this.#queue?.end()
    return this.#queue !== undefined
  }

  #mention(message: Uint8Array, number: number | undefined): void {
    const id = this.#idOf(number)
    // A client that can resume gets every event, so none is replaced.
    if (id === undefined) this.events().mention(event(message))
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
