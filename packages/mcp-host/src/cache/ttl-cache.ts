export interface TtlCacheOptions {
  /** The lifetime of a fresh value, in milliseconds. */
  readonly ttlMs: number
  /** The number of entries above which the least recently used one is evicted. */
  readonly maxEntries: number
  /** A monotonic clock in milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
}

export interface Cached<Value> {
  readonly value: Value
  /** Whether the value is within its lifetime. */
  readonly isFresh: boolean
}

/**
 * A bounded cache of values with a lifetime. Stale values stay readable until they are evicted, so that they can be
 * served while their server is unavailable.
 */
export class TtlCache<Value> {
  readonly #ttlMs: number
  readonly #maxEntries: number
  readonly #now: () => number
  /** Entries by key, least recently used first. */
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

  /** `ttlMs` is the lifetime of this value; with 0 it is stale at once. */
  set(key: string, value: Value, ttlMs: number = this.#ttlMs): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, freshUntil: this.#now() + ttlMs })
    const [oldest = key] = this.#entries.keys()
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Deletes every key with this prefix. */
  deletePrefix(prefix: string): void {
    for (const key of this.#entries.keys()) {
      if (key.startsWith(prefix)) this.#entries.delete(key)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}
