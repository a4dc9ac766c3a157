export interface TtlCacheOptions {
  /** The lifetime of a fresh value, in milliseconds. */
  readonly ttlMs: number
  /** Beyond it, what was not used for the longest time is dropped. */
  readonly maxEntries: number
  /** In milliseconds, never going back; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

export interface Cached<Value> {
  readonly value: Value
  /** Not so: it is out of date, and good only while nothing better can be had. */
  readonly isFresh: boolean
}

/**
 * Keeps values for a time, and a limited number of them. What is out of date stays readable until it
 * is dropped: it can be served while its server is unavailable.
 */
export class TtlCache<Value> {
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #now: () => number
  /** In the order of use, the latest last. */
  readonly #entries = new Map<string, { readonly value: Value; readonly freshUntil: number }>()

  constructor({ ttlMs, maxEntries, now = () => performance.now() }: TtlCacheOptions) {
    this.#ttlMs = ttlMs
    this.#maxEntries = maxEntries
    this.#now = now
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Cached<Value> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return { value: entry.value, isFresh: this.#now() < entry.freshUntil }
  }

  /** `ttlMs`: of this value alone; with 0 it is out of date at once. */
  set(key: string, value: Value, ttlMs: number = this.#ttlMs): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, freshUntil: this.#now() + ttlMs })
    if (this.#entries.size <= this.#maxEntries) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Deletes every key that begins so, as all of one server do. */
  deletePrefix(prefix: string): void {
    for (const key of this.#entries.keys()) {
      if (key.startsWith(prefix)) this.#entries.delete(key)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}
