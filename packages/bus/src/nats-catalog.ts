import type { CatalogEntry } from '@mcp-host/contracts'
import { CatalogEntry as Schema, catalogKey } from '@mcp-host/contracts'
import { keySubject, removeKey, wholeSeconds } from './bucket-key.ts'
import type { BucketWatchDeps } from './bucket-watch.ts'
import { watchBucket } from './bucket-watch.ts'
import type { Blobs, Catalog, CatalogView } from './bus.ts'
import { CatalogEntries } from './catalog-entries.ts'
import { decode, encode } from './codec.ts'
import { storeLists } from './stored-lists.ts'

export const CATALOG_BUCKET = 'CATALOG'

/** The time limit of one put. Entries expire unless they are put again in time, so the sender retries soon. */
const PUT_TIMEOUT_MS = 1_000

export interface CatalogDeps extends BucketWatchDeps {
  /** Stores lists that are too large for a message. */
  readonly blobs: Blobs
}

/** The catalog in a key-value bucket. */
export class NatsCatalog implements Catalog {
  readonly #deps: CatalogDeps
  /** Keys of the stored lists of this process by entry; more than one after a failed put. */
  readonly #stored = new Map<string, string[]>()

  constructor(deps: CatalogDeps) {
    this.#deps = deps
  }

  async put(entry: CatalogEntry, { ttlMs }: { ttlMs?: number } = {}): Promise<void> {
    const key = catalogKey(entry)
    const small = entry.kind === 'server' ? await storeLists(this.#deps.blobs, entry) : entry
    const former = this.#stored.get(key) ?? []
    const latest = storedKeys(small)
    if (former.length + latest.length > 0) this.#stored.set(key, [...former, ...latest])
    // The client's own `put` has no time to live.
    const subject = keySubject(CATALOG_BUCKET, key)
    const ttl = ttlMs === undefined ? {} : { ttl: wholeSeconds(ttlMs) }
    const options = { ...ttl, timeout: PUT_TIMEOUT_MS }
    await this.#deps.jetstream.publish(subject, encode(Schema, small, 'catalog entry'), options)
    if (former.length === 0) return
    // Only after the put, since until then readers may need the lists of the previous version.
    this.#stored.set(key, latest)
    this.#forget(former)
  }

  async remove(entry: CatalogEntry): Promise<void> {
    const key = catalogKey(entry)
    await removeKey(this.#deps.jetstream, CATALOG_BUCKET, key)
    this.#forget([...(this.#stored.get(key) ?? []), ...storedKeys(entry)])
    this.#stored.delete(key)
  }

  async watch({ withLists = true }: { readonly withLists?: boolean } = {}): Promise<CatalogView> {
    const { blobs, connection, warn } = this.#deps
    const isClosed = (): boolean => connection.isClosed()
    const entries = new CatalogEntries({ blobs, warn, withLists, isClosed })
    await watchBucket(this.#deps, CATALOG_BUCKET, {
      what: 'catalog',
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
    // Lists that cannot be removed expire.
    for (const key of stored) this.#deps.blobs.remove(key).catch(() => undefined)
  }
}

function storedKeys(entry: CatalogEntry): string[] {
  return entry.kind === 'server' && entry.stored ? [entry.stored.key] : []
}
