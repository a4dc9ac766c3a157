export interface EventChannelOptions {
  /** Called with errors and rejections of listeners. */
  readonly onListenerError: (error: unknown) => void
  /** A reader with more unread events ends with an error; default 1,000. */
  readonly maxUnread?: number | undefined
}

export interface ReadOptions<Type extends string> {
  /** Ends the iteration; what is unread by then stays so. */
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
  /** It fell behind: what came after `unread` is lost. */
  isTooSlow: boolean
  wake: (() => void) | undefined
}

interface Registration<Event> {
  readonly listener: (event: Event) => unknown
}

/** One emitter, many readers and listeners: each event goes to all there are, and is not kept. */
export class EventChannel<Event extends { readonly type: string }> {
  readonly #onListenerError: (error: unknown) => void
  readonly #maxUnread: number
  readonly #readers = new Set<Reader<Event>>()
  readonly #listeners = new Map<string, Set<Registration<Event>>>()
  #isClosed = false

  constructor({ onListenerError, maxUnread = 1_000 }: EventChannelOptions) {
    this.#onListenerError = onListenerError
    this.#maxUnread = maxUnread
  }

  /** Does nothing when the channel is closed. */
  emit(event: Event): void {
    const registrations = this.#listeners.get(event.type)
    // A copy, since a listener may add others; each is looked up again, since it may remove them.
    for (const registration of registrations === undefined ? [] : [...registrations]) {
      if (registrations?.has(registration) === true) this.#tell(registration, event)
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
   * The events from now on, until the channel is closed; leaving the iteration early ends it too.
   * Throws when it fell so far behind that events were lost, after those that were not.
   */
  read<Type extends Event['type'] = Event['type']>({
    signal,
    types,
  }: ReadOptions<Type>): AsyncGenerator<EventOfType<Event, Type>, void, undefined> {
    const isWanted = types && new Set<string>(types)
    const reader: Reader<Event> = {
      types: isWanted,
      unread: [],
      isTooSlow: false,
      wake: undefined,
    }
    // Not left to the generator, which begins when it is first asked: what happens until then counts.
    if (!this.#isClosed && !signal.aborted) this.#readers.add(reader)
    // `types` has let in no other events.
    return this.#follow(reader, signal) as AsyncGenerator<EventOfType<Event, Type>, void, undefined>
  }

  /** Calls the listener with each event of the type until it is disposed of, or the signal aborts. */
  on<Type extends Event['type']>(
    type: Type,
    listener: (event: EventOfType<Event, Type>) => unknown,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Disposable {
    // It is stored under its type, and hears no other events.
    const registration = { listener: listener as (event: Event) => unknown }
    const registrations = this.#listeners.get(type) ?? new Set()
    if (!this.#isClosed && signal?.aborted !== true) {
      this.#listeners.set(type, registrations.add(registration))
    }
    const remove = (): void => {
      registrations.delete(registration)
      signal?.removeEventListener('abort', remove)
    }
    signal?.addEventListener('abort', remove, { once: true })
    return { [Symbol.dispose]: remove }
  }

  /** Readers end after what they have not read yet; listeners hear no more. */
  close(): void {
    this.#isClosed = true
    for (const registrations of this.#listeners.values()) registrations.clear()
    for (const reader of this.#readers) reader.wake?.()
    this.#readers.clear()
  }

  #tell({ listener }: Registration<Event>, event: Event): void {
    try {
      const result = listener(event)
      if (result instanceof Promise) result.catch(this.#onListenerError)
    } catch (error) {
      // The emitter and the other listeners have no part in it.
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
