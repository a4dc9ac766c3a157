/** A client that does not read is left to come back: so many bytes wait for it. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
const MAX_MENTIONS = 100
/** Proxies end what is silent for long. */
const KEEP_ALIVE_MS = 15_000
const KEEP_ALIVE = new TextEncoder().encode(': here\n\n')

/** Server-sent events on their way to one client. */
export class EventQueue implements AsyncIterable<Uint8Array> {
  readonly #waiting: { readonly event: Uint8Array; readonly isMention: boolean }[] = []
  #mentions = 0
  #bytes = 0
  #isOver = false
  #wake = Promise.withResolvers<void>()

  put(event: Uint8Array): void {
    this.#put(event, false)
    // One alone always goes, however large it is.
    if (this.#bytes > MAX_WAITING_BYTES && this.#waiting.length > 1) this.#isOver = true
  }

  /** Adds an event that newer ones may replace: a slow reader gets the latest progress. */
  mention(event: Uint8Array): void {
    this.#put(event, true)
    if (++this.#mentions > MAX_MENTIONS) {
      this.#taken(this.#waiting.findIndex(({ isMention }) => isMention))
    }
  }

  /** Nothing comes after what is in it. */
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
        for (let event; (event = this.#taken(0)) !== undefined;) yield event
        if (this.#isOver) return
        this.#wake = Promise.withResolvers()
        await this.#wake.promise
      }
    } finally {
      clearInterval(alive)
      this.#isOver = true
    }
  }

  #put(event: Uint8Array, isMention: boolean): void {
    if (this.#isOver) return
    this.#waiting.push({ event, isMention })
    this.#bytes += event.length
    this.#wake.resolve()
  }

  #taken(index: number): Uint8Array | undefined {
    const [next] = this.#waiting.splice(index, 1)
    if (next === undefined) return undefined
    this.#bytes -= next.event.length
    if (next.isMention) this.#mentions--
    return next.event
  }
}
