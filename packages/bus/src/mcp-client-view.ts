import type { McpClientRecord } from '@mcp-host/contracts'
import type { McpClientView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'

/** A record as it was read or written. */
export interface StoredRecord {
  readonly record: McpClientRecord
  /** 0 for a missing record. */
  readonly revision: number
  /** The stored size. */
  readonly bytes: number
}

export interface ViewLimits {
  readonly maxRecords: number
  readonly maxBytes: number
}

/** Evicted records are read again when their clients come back. */
const VIEW_LIMITS: ViewLimits = { maxRecords: 20_000, maxBytes: 32 * 1024 * 1024 }

interface CachedRecord extends StoredRecord {
  /** The number of active `hold` calls, which prevent an eviction. */
  holders: number
}

const NONE: StoredRecord = { record: {}, revision: 0, bytes: 0 }

/** The records that were read, within limits. The oldest are evicted first. */
export class ClientView implements McpClientView {
  readonly #load: (client: string) => Promise<StoredRecord | undefined>
  readonly #limits: ViewLimits
  /** Records by client, oldest first. */
  readonly #records = new Map<string, CachedRecord>()
  readonly #reading = new Map<string, Promise<void>>()
  readonly #listeners = new ChangeEmitter()
  #bytes = 0

  constructor(
    load: (client: string) => Promise<StoredRecord | undefined>,
    limits: ViewLimits = VIEW_LIMITS,
  ) {
    this.#load = load
    this.#limits = limits
  }

  get(client: string): McpClientRecord | undefined {
    return this.#records.get(client)?.record
  }

  read(client: string): Promise<void> | undefined {
    if (this.#records.has(client)) return undefined
    const known = this.#reading.get(client)
    if (known !== undefined) return known
    const reading = this.#read(client).finally(() => this.#reading.delete(client))
    this.#reading.set(client, reading)
    return reading
  }

  hold(client: string): Disposable {
    const cached = this.#records.get(client) ?? this.#store(client, NONE)
    cached.holders++
    return { [Symbol.dispose]: () => void cached.holders-- }
  }

  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener)
  }

  /**
   * Stores a record that this process wrote (`isOwn`) or received. A received record is stored only when the view has
   * the client.
   */
  put(client: string, stored: StoredRecord, { isOwn = false } = {}): void {
    const cached = this.#records.get(client)
    const isWanted = isOwn || cached !== undefined || this.#reading.has(client)
    if (!isWanted || stored.revision <= (cached?.revision ?? 0)) return
    this.#store(client, stored)
    this.#listeners.call()
  }

  end(client: string): void {
    if (!this.#records.has(client)) return
    this.#store(client, NONE)
    this.#listeners.call()
  }

  async #read(client: string): Promise<void> {
    const stored = (await this.#load(client)) ?? NONE
    // A newer revision may have arrived during the read.
    if (stored.revision >= (this.#records.get(client)?.revision ?? 0)) this.#store(client, stored)
  }

  #store(client: string, { record, revision, bytes }: StoredRecord): CachedRecord {
    const cached = this.#records.get(client) ?? { ...NONE, holders: 0 }
    this.#bytes += bytes - cached.bytes
    Object.assign(cached, { record, revision, bytes })
    this.#records.set(client, cached)
    this.#evict(client)
    return cached
  }

  #evict(newest: string): void {
    const { maxRecords, maxBytes } = this.#limits
    for (const [client, { holders, bytes }] of this.#records) {
      if (this.#records.size <= maxRecords && this.#bytes <= maxBytes) return
      if (holders > 0 || client === newest) continue
      this.#records.delete(client)
      this.#bytes -= bytes
    }
  }
}
