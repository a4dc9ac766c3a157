import { BusError, WATCH_MS } from '@mcp-host/contracts'
import type { Upstream } from '@mcp-host/upstream'

/** Limit for the watched resources of one server. */
const MAX_WATCHED = 5_000
/** Limit for the requests to subscribe that a server has at a time: its other requests must not wait for thousands. */
const MAX_ASKED = 16

/** The subscribed resources of one server. A subscription that is not renewed ends. */
export class WatchedResources implements Disposable {
  readonly #upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>
  readonly #watched = new Map<string, { until: number; readonly agreed: Promise<void> }>()
  readonly #sweep: NodeJS.Timeout
  #asked = 0
  readonly #waiting: (() => void)[] = []

  constructor(upstream: Pick<Upstream, 'subscribe' | 'unsubscribe'>) {
    this.#upstream = upstream
    this.#sweep = setInterval(() => this.#forgetOld(), WATCH_MS / 2).unref()
  }

  get size(): number {
    return this.#watched.size
  }

  /** Watches resources for a limited time. Throws when the server refuses one, or `exhausted`. */
  async watch(uris: readonly string[]): Promise<void> {
    const added = new Set(uris.filter((uri) => !this.#watched.has(uri))).size
    if (added > 0 && this.#watched.size + added > MAX_WATCHED) {
      const message = `${MAX_WATCHED} resources of a server can be watched at a time; end some first`
      throw new BusError('exhausted', message)
    }
    await Promise.all(uris.map((uri) => this.#watch(uri)))
  }

  async #watch(uri: string): Promise<void> {
    const until = Date.now() + WATCH_MS
    const known = this.#watched.get(uri)
    if (known !== undefined) {
      known.until = until
      return known.agreed
    }
    const agreed = this.#subscribe(uri)
    this.#watched.set(uri, { until, agreed })
    try {
      await agreed
    } catch (error) {
      this.#watched.delete(uri)
      throw error
    }
  }

  async #subscribe(uri: string): Promise<void> {
    if (this.#asked < MAX_ASKED) this.#asked += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      await this.#upstream.subscribe(uri)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#asked -= 1
      else next()
    }
  }

  #forgetOld(): void {
    const now = Date.now()
    for (const [uri, { until }] of this.#watched) {
      if (until > now) continue
      this.#watched.delete(uri)
      // If that fails, the server sends updates that have no subscriber.
      this.#upstream.unsubscribe(uri).catch(() => undefined)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep)
  }
}
