import type { JetStreamClient } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { CatalogEntry } from '@mcp-host/contracts'
import { CatalogEntry as Schema, catalogKey } from '@mcp-host/contracts'
import { keySubject, wholeSeconds } from './bucket-key.ts'
import { watchBucket } from './bucket-watch.ts'
import type { Blobs, Catalog, CatalogView } from './bus.ts'
import { CatalogEntries } from './catalog-entries.ts'
import { decode, encode } from './codec.ts'
import { storeLists } from './stored-lists.ts'
import { EXPIRY_NOTICE_MS } from './streams.ts'

export const CATALOG_BUCKET = 'CATALOG'

/** Entries that expire must be put again in time, so the sender retries soon. */
const PUT_TIMEOUT_MS = 1_000

export interface NatsCatalogDeps {
  readonly bucket: KV
  readonly jetstream: JetStreamClient
  /** For lists that are too large for a message. */
  readonly blobs: Blobs
  readonly isClosed: () => boolean
  readonly warn: (error: unknown, action: string) => void
}

/** The catalog in a key-value bucket. */
export class NatsCatalog implements Catalog {
  readonly #deps: NatsCatalogDeps
  /** By key, what this process has stored of its entries; more than one after a put that failed. */
  readonly #stored = new Map<string, string[]>()

  constructor(deps: NatsCatalogDeps) {
    this.#deps = deps
  }

  async put(entry: CatalogEntry, { ttlMs }: { ttlMs?: number } = {}): Promise<void> {
    const key = catalogKey(entry)
    const small = entry.kind === 'server' ? await storeLists(this.#deps.blobs, entry) : entry
    const former = this.#stored.get(key) ?? []
    const latest = small.kind === 'server' && small.stored ? [small.stored.key] : []
    if (former.length + latest.length > 0) this.#stored.set(key, [...former, ...latest])
    // Past the bucket's own function, which knows no time to live.
    const subject = keySubject(CATALOG_BUCKET, key)
    const ttl = ttlMs === undefined ? {} : { ttl: wholeSeconds(ttlMs) }
    const options = { ...ttl, timeout: PUT_TIMEOUT_MS }
    await this.#deps.jetstream.publish(subject, encode(Schema, small, 'catalog entry'), options)
    if (former.length === 0) return
    // Only now: until then readers may begin with the version before.
    this.#stored.set(key, latest)
    this.#forget(former)
  }

  async remove(entry: CatalogEntry): Promise<void> {
    const key = catalogKey(entry)
    // Otherwise the delete marker stays without limit: keys hold ids of processes, which change at every start.
    await this.#deps.bucket.purge(key, { ttl: wholeSeconds(EXPIRY_NOTICE_MS) })
    const theirs = entry.kind === 'server' && entry.stored ? [entry.stored.key] : []
    this.#forget([...(this.#stored.get(key) ?? []), ...theirs])
    this.#stored.delete(key)
  }

  async watch(): Promise<CatalogView> {
    const { bucket, warn } = this.#deps
    const entries = new CatalogEntries(this.#deps)
    await watchBucket(bucket, {
      what: 'catalog',
      warn,
      put: ({ key, value, revision }) => {
        const entry = decode(Schema, value, `catalog ${key}`)
        entries.put(key, entry.kind === 'server' ? { ...entry, revision } : entry)
      },
      end: (key) => entries.end(key),
    })
    await entries.settled()
    return entries
  }

  #forget(stored: readonly string[]): void {
    // Objects that are not removed expire.
    for (const key of stored) this.#deps.blobs.remove(key).catch(() => undefined)
  }
}
