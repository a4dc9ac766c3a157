/** The limit of queued bytes. A client that does not read them is disconnected, and may reconnect. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const MAX_REPLACEABLE = 100
/** The period of comments, since proxies close silent connections. */
const KEEP_ALIVE_MS = 15_000
const KEEP_ALIVE = new TextEncoder().encode(': here\n\n')

/** The queued server-sent events for one client. */
export class EventQueue implements AsyncIterable<Uint8Array> {
  readonly #waiting: { readonly event: Uint8Array; readonly isReplaceable: boolean }[] = []
  #replaceable = 0
  #bytes = 0
  #isOver = false
  #wake = Promise.withResolvers<void>()

  put(event: Uint8Array): void {
    this.#put(event, false)
    // A single event is sent even if it is larger.
    if (this.#bytes > MAX_WAITING_BYTES && this.#waiting.length > 1) this.#isOver = true
  }

  /** Adds an event that newer ones may replace: a slow reader gets the latest progress. */
  putReplaceable(event: Uint8Array): void {
    this.#put(event, true)
    if (++this.#replaceable > MAX_REPLACEABLE) {
      this.#remove(this.#waiting.findIndex(({ isReplaceable }) => isReplaceable))
    }
  }

  /** Ends the stream after the queued events. */
  end(): void {
    this.#isOver = true
    this.#wake.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
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
      this.#isOver = true
    }
  }

  #put(event: Uint8Array, isReplaceable: boolean): void {
    if (this.#isOver) return
    this.#waiting.push({ event, isReplaceable })
    this.#bytes += event.length
    this.#wake.resolve()
  }

  #remove(index: number): Uint8Array | undefined {
    const [next] = this.#waiting.splice(index, 1)
    if (next === undefined) return undefined
    this.#bytes -= next.event.length
    if (next.isReplaceable) this.#replaceable--
    return next.event
  }
}
