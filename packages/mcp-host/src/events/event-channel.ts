export interface EventChannelOptions {
  /** Called with errors and rejections of listeners. */
  readonly onListenerError: (error: unknown) => void
  /** The limit for unread events of a reader, above which it ends with an error; default 1,000. */
  readonly maxUnread?: number | undefined
}

export interface ReadOptions<Type extends string> {
  /** Ends the iteration, even with unread events. */
  readonly signal: AbortSignal
  /** Default: all. */
  readonly types?: readonly Type[] | undefined
}

export type EventOfType<Event extends { readonly type: string }, Type> = Extract<
  Event,
  { readonly type: Type }
>

interface Reader<Event> {
  readonly types: ReadonlySet<string> | undefined
  readonly unread: Event[]
  /** Whether events after `unread` were lost. */
  isTooSlow: boolean
  wake: (() => void) | undefined
}

interface Registration<Event> {
  readonly type: string
  readonly listener: (event: Event) => unknown
}

/** Delivers each event to all present readers and listeners. */
export class EventChannel<Event extends { readonly type: string }> {
  readonly #onListenerError: (error: unknown) => void
  readonly #maxUnread: number
  readonly #readers = new Set<Reader<Event>>()
  readonly #listeners = new Set<Registration<Event>>()
  #isClosed = false

  constructor({ onListenerError, maxUnread = 1_000 }: EventChannelOptions) {
    this.#onListenerError = onListenerError
    this.#maxUnread = maxUnread
  }

  /** Does nothing when the channel is closed. */
  emit(event: Event): void {
    const { type } = event
    // A copy, since a listener may add registrations. Each is looked up again, since a listener may remove it.
    const registrations = [...this.#listeners].filter((each) => each.type === type)
    for (const registration of registrations) {
      if (this.#listeners.has(registration)) this.#call(registration, event)
    }
    for (const reader of this.#readers) {
      if (reader.types?.has(event.type) === false) continue
      if (reader.unread.length < this.#maxUnread) {
        reader.unread.push(event)
      } else {
        reader.isTooSlow = true
        this.#readers.delete(reader)
      }
      reader.wake?.()
    }
  }

  /**
   * The events from this call on, until the channel is closed or the iteration ends. A reader that is too slow gets an
   * error after the last event before a lost one.
   */
  read<Type extends Event['type'] = Event['type']>({
    signal,
    types,
  }: ReadOptions<Type>): AsyncGenerator<EventOfType<Event, Type>, void, undefined> {
    const reader: Reader<Event> = {
      types: types && new Set<string>(types),
      unread: [],
      isTooSlow: false,
      wake: undefined,
    }
    // Added here, since the generator begins only with the first `next` and would miss earlier events.
    if (!this.#isClosed && !signal.aborted) this.#readers.add(reader)
    // `types` admits no other events.
    return this.#follow(reader, signal) as AsyncGenerator<EventOfType<Event, Type>, void, undefined>
  }

  /** Calls the listener with each event of the type until it is disposed of, or the signal aborts. */
  on<Type extends Event['type']>(
    type: Type,
    listener: (event: EventOfType<Event, Type>) => unknown,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Disposable {
    // The listener is called only for events of its type.
    const registration = { type, listener: listener as (event: Event) => unknown }
    if (!this.#isClosed && signal?.aborted !== true) this.#listeners.add(registration)
    const remove = (): void => {
      this.#listeners.delete(registration)
      signal?.removeEventListener('abort', remove)
    }
    signal?.addEventListener('abort', remove, { once: true })
    return { [Symbol.dispose]: remove }
  }

  /** Ends readers after their unread events, and removes all listeners. */
  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    for (const reader of this.#readers) reader.wake?.()
    this.#readers.clear()
  }

  #call({ listener }: Registration<Event>, event: Event): void {
    try {
      const result = listener(event)
      if (result instanceof Promise) result.catch(this.#onListenerError)
    } catch (error) {
      // The error must not reach the emitter and the other listeners.
      this.#onListenerError(error)
    }
  }

  async *#follow(
    reader: Reader<Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    const wake = (): void => reader.wake?.()
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        const event = reader.unread.shift()
        if (event !== undefined) {
          yield event
        } else if (reader.isTooSlow) {
          throw new Error(
            `more than ${this.#maxUnread} events were unread, and some are lost; read faster or fewer types`,
          )
        } else if (this.#readers.has(reader)) {
          await new Promise<void>((resolve) => {
            reader.wake = resolve
          })
        } else {
          return
        }
      }
    } finally {
      signal.removeEventListener('abort', wake)
      this.#readers.delete(reader)
    }
  }
}
