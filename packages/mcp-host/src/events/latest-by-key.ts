/** A queue for one reader that holds only the latest value of each key, so a slow reader skips outdated values. */
export class LatestByKey<Value> {
  readonly #values = new Map<string, Value>()
  #isClosed = false
  #wake: (() => void) | undefined

  put(key: string, value: Value): void {
    // A replaced value keeps its position, so that no key starves another.
    this.#values.set(key, value)
    this.#wake?.()
  }

  /** Queued events are still delivered. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  /** Ends when the queue is closed and empty. */
  async *read(): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      for (const [key, value] of this.#values) {
        this.#values.delete(key)
        yield value
      }
      if (this.#values.size > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
