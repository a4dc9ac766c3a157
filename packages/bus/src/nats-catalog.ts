import type { KV } from '@nats-io/kv'
import type { CatalogEntry } from '@mcp-host/contracts'
import { CatalogEntry as Schema, catalogKey } from '@mcp-host/contracts'
import type { Catalog, CatalogView } from './bus.ts'
import { decode, encode } from './codec.ts'

export const CATALOG_BUCKET = 'CATALOG'

/** The catalog in a key-value bucket. */
export class NatsCatalog implements Catalog {
  readonly #bucket: KV
  readonly #warn: (error: unknown, action: string) => void

  constructor(bucket: KV, warn: (error: unknown, action: string) => void) {
    this.#bucket = bucket
    this.#warn = warn
  }

  async put(entry: CatalogEntry): Promise<void> {
    await this.#bucket.put(catalogKey(entry), encode(Schema, entry, 'catalog entry'))
  }

  async remove(entry: CatalogEntry): Promise<void> {
    await this.#bucket.delete(catalogKey(entry))
  }

  async watch(): Promise<CatalogView> {
    const entries = new Map<string, CatalogEntry>()
    const present = Promise.withResolvers<void>()
    const updates = await this.#bucket.watch()
    if ((await this.#bucket.status()).values === 0) present.resolve()
    void (async () => {
      for await (const update of updates) {
        try {
          if (update.operation === 'PUT') {
            entries.set(update.key, decode(Schema, update.value, `catalog ${update.key}`))
          } else entries.delete(update.key)
        } catch (error) {
          // An entry of a newer version is left out rather than stopping the watch.
          this.#warn(error, 'read catalog')
        }
        if (update.delta === 0) present.resolve()
      }
    })().catch((error: unknown) => this.#warn(error, 'watch catalog'))
    await present.promise
    return { entries }
  }
}
