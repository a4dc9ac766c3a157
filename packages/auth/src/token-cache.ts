import { hash } from 'node:crypto'

const MAX_TOKENS = 10_000

interface Cached<T> {
  readonly value: T
  /** Epoch milliseconds. */
  readonly until: number
}

/**
 * Caches verified tokens by their SHA-256, since verifying a signature takes 100 µs and clients send the same token
 * with every request. Above 10,000 the oldest is evicted.
 */
export class TokenCache<T> {
  readonly #tokens = new Map<string, Cached<T>>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  get(token: string): T | undefined {
    const key = keyOf(token)
    const cached = this.#tokens.get(key)
    if (cached === undefined) return undefined
    if (cached.until > this.#now()) return cached.value
    this.#tokens.delete(key)
    return undefined
  }

  /** `until`: epoch milliseconds. */
  set(token: string, value: T, until: number): void {
    const [oldest] = this.#tokens.keys()
    if (this.#tokens.size >= MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest)
    this.#tokens.set(keyOf(token), { value, until })
  }

  /** Removes values, such as those of a revoked grant. */
  deleteWhere(matches: (value: T) => boolean): void {
    for (const [key, { value }] of this.#tokens) if (matches(value)) this.#tokens.delete(key)
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64')
}
