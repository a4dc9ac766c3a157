import type { JetStreamClient } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { CatalogEntry } from '@mcp-host/contracts'
import { CatalogEntry as Schema, catalogKey } from '@mcp-host/contracts'
import type { Catalog, CatalogView } from './bus.ts'
import { decode, encode } from './codec.ts'
import { Listeners } from './listeners.ts'
import { EXPIRY_NOTICE_MS } from './streams.ts'

export const CATALOG_BUCKET = 'CATALOG'

/** The catalog in a key-value bucket. */
export class NatsCatalog implements Catalog {
  readonly #bucket: KV
  readonly #jetstream: JetStreamClient
  readonly #warn: (error: unknown, action: string) => void

  constructor(
    bucket: KV,
    jetstream: JetStreamClient,
    warn: (error: unknown, action: string) => void,
  ) {
    this.#bucket = bucket
    this.#jetstream = jetstream
    this.#warn = warn
  }

  async put(entry: CatalogEntry, { ttlMs }: { ttlMs?: number } = {}): Promise<void> {
    // Past the bucket's own function, which knows no time to live.
    const subject = `$KV.${CATALOG_BUCKET}.${catalogKey(entry)}`
    const ttl = ttlMs === undefined ? {} : { ttl: `${Math.ceil(ttlMs / 1_000)}s` }
    await this.#jetstream.publish(subject, encode(Schema, entry, 'catalog entry'), ttl)
  }

  async remove(entry: CatalogEntry): Promise<void> {
    // Else the mark of its removal stays for ever: keys hold the ids of processes, new at every start.
    await this.#bucket.purge(catalogKey(entry), { ttl: `${EXPIRY_NOTICE_MS / 1_000}s` })
  }

  async watch(): Promise<CatalogView> {
    const entries = new Map<string, CatalogEntry>()
    const listeners = new Listeners()
    const present = Promise.withResolvers<void>()
    const updates = await this.#bucket.watch()
    if ((await this.#bucket.status()).values === 0) present.resolve()
    void (async () => {
      for await (const update of updates) {
        try {
          if (update.operation === 'PUT') {
            const entry = decode(Schema, update.value, `catalog ${update.key}`)
            const { revision } = update
            entries.set(update.key, entry.kind === 'server' ? { ...entry, revision } : entry)
          } else entries.delete(update.key)
          listeners.call()
        } catch (error) {
          // An entry of a newer version is left out rather than stopping the watch.
          this.#warn(error, 'read catalog')
        }
        if (update.delta === 0) present.resolve()
      }
    })().catch((error: unknown) => this.#warn(error, 'watch catalog'))
    await present.promise
    return { entries, onChange: (listener) => listeners.add(listener) }
  }
}
