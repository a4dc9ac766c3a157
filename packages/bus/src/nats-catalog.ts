import type { JetStreamClient } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { CatalogEntry } from '@mcp-host/contracts'
import { CatalogEntry as Schema, catalogKey } from '@mcp-host/contracts'
import { keySubject, wholeSeconds } from './bucket-key.ts'
import { watchBucket } from './bucket-watch.ts'
import type { Catalog, CatalogView } from './bus.ts'
import { decode, encode } from './codec.ts'
import { Listeners } from './listeners.ts'
import { EXPIRY_NOTICE_MS } from './streams.ts'

export const CATALOG_BUCKET = 'CATALOG'

/** What expires must be put again before: who puts it tries again soon. */
const PUT_TIMEOUT_MS = 1_000

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
    const subject = keySubject(CATALOG_BUCKET, catalogKey(entry))
    const ttl = ttlMs === undefined ? {} : { ttl: wholeSeconds(ttlMs) }
    const options = { ...ttl, timeout: PUT_TIMEOUT_MS }
    await this.#jetstream.publish(subject, encode(Schema, entry, 'catalog entry'), options)
  }

  async remove(entry: CatalogEntry): Promise<void> {
    // Else the mark of its removal stays for ever: keys hold the ids of processes, new at every start.
    await this.#bucket.purge(catalogKey(entry), { ttl: wholeSeconds(EXPIRY_NOTICE_MS) })
  }

  async watch(): Promise<CatalogView> {
    const entries = new Map<string, CatalogEntry>()
    const listeners = new Listeners()
    await watchBucket(this.#bucket, {
      what: 'catalog',
      warn: this.#warn,
      put: ({ key, value, revision }) => {
        const entry = decode(Schema, value, `catalog ${key}`)
        entries.set(key, entry.kind === 'server' ? { ...entry, revision } : entry)
        listeners.call()
      },
      end: (key) => {
        entries.delete(key)
        listeners.call()
      },
    })
    return { entries, onChange: (listener) => listeners.add(listener) }
  }
}
