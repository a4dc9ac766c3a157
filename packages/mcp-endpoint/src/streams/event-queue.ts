/** Limit for the unread bytes of one client. A client above it is disconnected, and may reconnect. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** Limits for the unread events of one client that newer ones replace. */
const MAX_REPLACEABLE = 100
const MAX_REPLACEABLE_BYTES = 1024 * 1024
/** The period of comments, since proxies close silent connections. */
const KEEP_ALIVE_MS = 15_000
const KEEP_ALIVE = new TextEncoder().encode(': here\n\n')

/** The queued server-sent events for one client. */
export class EventQueue implements AsyncIterable<Uint8Array> {
  readonly #waiting: { readonly event: Uint8Array; readonly isReplaceable: boolean }[] = []
  readonly #onBytes: (change: number) => void
  #replaceable = 0
  #replaceableBytes = 0
  #bytes = 0
  #isOver = false
  #wake = Promise.withResolvers<void>()

  /** `onBytes`: called with each change of `bytes`. */
  constructor(onBytes: (change: number) => void = () => undefined) {
    this.#onBytes = onBytes
  }

  /** The bytes that the client has not read. */
  get bytes(): number {
    return this.#bytes
  }

  put(event: Uint8Array): void {
    this.#put(event, false)
    // A single event is sent even if it is larger.
    if (this.#bytes > MAX_WAITING_BYTES && this.#waiting.length > 1) this.#isOver = true
  }

  /** Adds an event that newer ones may replace: a slow reader gets the latest progress. */
  putReplaceable(event: Uint8Array): void {
    this.#put(event, true)
    while (this.#replaceable > 1 && this.#hasTooManyReplaceable) {
      this.#remove(this.#waiting.findIndex(({ isReplaceable }) => isReplaceable))
    }
  }

  /** Ends the stream after the queued events. */
  end(): void {
    this.#isOver = true
    this.#wake.resolve()
  }

  /** Ends the stream without the queued events. */
  abandon(): void {
    while (this.#waiting.length > 0) this.#remove(0)
    this.end()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const events = this.#read()
    return {
      next: () => events.next(),
      // A generator that was not started would not see its end.
      return: async () => {
        this.abandon()
        return events.return(undefined)
      },
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    const alive = setInterval(() => {
      if (this.#waiting.length === 0) this.put(KEEP_ALIVE)
    }, KEEP_ALIVE_MS)
    try {
      for (;;) {
        for (let event; (event = this.#remove(0)) !== undefined;) yield event
        if (this.#isOver) return
        this.#wake = Promise.withResolvers()
        await this.#wake.promise
      }
    } finally {
      clearInterval(alive)
    }
  }

  get #hasTooManyReplaceable(): boolean {
    return this.#replaceable > MAX_REPLACEABLE || this.#replaceableBytes > MAX_REPLACEABLE_BYTES
  }

  #put(event: Uint8Array, isReplaceable: boolean): void {
    if (this.#isOver) return
    this.#waiting.push({ event, isReplaceable })
    this.#count(event.length, isReplaceable ? 1 : 0)
    this.#wake.resolve()
  }

  #remove(index: number): Uint8Array | undefined {
    const [next] = this.#waiting.splice(index, 1)
    if (next === undefined) return undefined
    this.#count(-next.event.length, next.isReplaceable ? -1 : 0)
    return next.event
  }

  #count(bytes: number, replaceable: -1 | 0 | 1): void {
    this.#bytes += bytes
    this.#replaceable += replaceable
    if (replaceable !== 0) this.#replaceableBytes += bytes
    this.#onBytes(bytes)
  }
}
