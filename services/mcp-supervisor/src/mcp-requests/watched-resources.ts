import { WATCH_MS } from '@mcp-host/contracts'
import type { MCPHost } from 'mcp-host'

/** The subscribed resources of one server. A subscription that is not renewed ends. */
export class WatchedResources implements Disposable {
  readonly #host: Pick<MCPHost, 'subscribe' | 'unsubscribe'>
  readonly #server: string
  readonly #watched = new Map<string, { until: number; readonly agreed: Promise<void> }>()
  readonly #sweep: NodeJS.Timeout

  constructor(host: Pick<MCPHost, 'subscribe' | 'unsubscribe'>, server: string) {
    this.#host = host
    this.#server = server
    this.#sweep = setInterval(() => this.#forgetOld(), WATCH_MS / 2).unref()
  }

  get size(): number {
    return this.#watched.size
  }

  /** Watches resources for a limited time. Throws an error of the host when the server refuses one. */
  async watch(uris: readonly string[]): Promise<void> {
    await Promise.all(uris.map((uri) => this.#watch(uri)))
  }

  async #watch(uri: string): Promise<void> {
    const until = Date.now() + WATCH_MS
    const known = this.#watched.get(uri)
    if (known !== undefined) {
      known.until = until
      return known.agreed
    }
    const agreed = this.#host.subscribe({ server: this.#server, uri })
    this.#watched.set(uri, { until, agreed })
    try {
      await agreed
    } catch (error) {
      this.#watched.delete(uri)
      throw error
    }
  }

  #forgetOld(): void {
    const now = Date.now()
    for (const [uri, { until }] of this.#watched) {
      if (until > now) continue
      this.#watched.delete(uri)
      // If that fails, the server sends updates that have no subscriber.
      this.#host.unsubscribe({ server: this.#server, uri }).catch(() => undefined)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep)
  }
}
