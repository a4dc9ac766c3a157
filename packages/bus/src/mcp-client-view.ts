import type { McpClientRecord } from '@mcp-host/contracts'
import type { McpClientView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'

/** A record as it was read or written. */
export interface StoredRecord {
  readonly record: McpClientRecord
  /** 0: there is none. */
  readonly revision: number
  /** As it is stored. */
  readonly bytes: number
}

export interface ViewLimits {
  readonly maxRecords: number
  readonly maxBytes: number
}

/** Memory for sessions that are in use; the records of others are read again when they come back. */
export const VIEW_LIMITS: ViewLimits = { maxRecords: 20_000, maxBytes: 32 * 1024 * 1024 }

interface Kept extends StoredRecord {
  /** Users that keep the record in memory. */
  holders: number
}

const NONE: StoredRecord = { record: {}, revision: 0, bytes: 0 }

/** The records of the clients that were asked for, within limits; the oldest are forgotten first. */
export class ClientView implements McpClientView {
  readonly #load: (client: string) => Promise<StoredRecord | undefined>
  readonly #limits: ViewLimits
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>()
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
    return this.#kept.get(client)?.record
  }

  read(client: string): Promise<void> | undefined {
    if (this.#kept.has(client)) return undefined
    const known = this.#reading.get(client)
    if (known !== undefined) return known
    const reading = this.#read(client).finally(() => this.#reading.delete(client))
    this.#reading.set(client, reading)
    return reading
  }

  hold(client: string): Disposable {
    const kept = this.#kept.get(client) ?? this.#keep(client, NONE)
    kept.holders++
    return { [Symbol.dispose]: () => void kept.holders-- }
  }

  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener)
  }

  /** Takes a record that this process wrote or received; ignored for clients without users. */
  put(client: string, stored: StoredRecord, { isOwn = false } = {}): void {
    const kept = this.#kept.get(client)
    const isWanted = isOwn || kept !== undefined || this.#reading.has(client)
    if (!isWanted || stored.revision <= (kept?.revision ?? 0)) return
    this.#keep(client, stored)
    this.#listeners.call()
  }

  end(client: string): void {
    const kept = this.#kept.get(client)
    if (kept === undefined) return
    this.#keep(client, NONE)
    this.#listeners.call()
  }

  async #read(client: string): Promise<void> {
    const stored = (await this.#load(client)) ?? NONE
    // Meanwhile something newer may have come.
    if (stored.revision >= (this.#kept.get(client)?.revision ?? 0)) this.#keep(client, stored)
  }

  #keep(client: string, { record, revision, bytes }: StoredRecord): Kept {
    const kept = this.#kept.get(client) ?? { ...NONE, holders: 0 }
    this.#bytes += bytes - kept.bytes
    Object.assign(kept, { record, revision, bytes })
    this.#kept.set(client, kept)
    this.#forget(client)
    return kept
  }

  #forget(newest: string): void {
    const { maxRecords, maxBytes } = this.#limits
    if (this.#kept.size <= maxRecords && this.#bytes <= maxBytes) return
    for (const [client, { holders, bytes }] of this.#kept) {
      if (holders > 0 || client === newest) continue
      this.#kept.delete(client)
      this.#bytes -= bytes
      if (this.#kept.size <= maxRecords && this.#bytes <= maxBytes) return
    }
  }
}
