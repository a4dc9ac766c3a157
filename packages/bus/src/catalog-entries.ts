import type { CatalogEntry, ServerEntry } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Blobs, CatalogView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'
import { readLists } from './stored-lists.ts'

const RETRY_MS = 2_000

export interface CatalogEntriesDeps {
  readonly blobs: Pick<Blobs, 'get'>
  /** Whether stored lists are read. */
  readonly withLists: boolean
  readonly isClosed: () => boolean
  readonly warn: (error: unknown, action: string) => void
}

/**
 * The catalog in one process. An entry with stored lists becomes visible once its lists are read; until then the
 * previous version stays visible. Versions of one key never become visible out of order.
 */
export class CatalogEntries implements CatalogView {
  readonly entries = new Map<string, CatalogEntry>()
  readonly #deps: CatalogEntriesDeps
  readonly #listeners = new ChangeEmitter()
  /** The newest version of each key whose lists are being read. */
  readonly #incomplete = new Map<string, ServerEntry>()
  /** Reads of lists by digest, since several supervisors may store the lists of one server. */
  readonly #reads = new Map<string, Promise<ServerEntry>>()
  readonly #attempts = new Set<Promise<void>>()

  constructor(deps: CatalogEntriesDeps) {
    this.#deps = deps
  }

  readonly onChange = (listener: () => void): Disposable => this.#listeners.add(listener)

  /** Resolves once all lists of the entries so far are read, or their reads have failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#attempts)
  }

  put(key: string, entry: CatalogEntry): void {
    this.#incomplete.delete(key)
    const { withLists: isRead } = this.#deps
    if (entry.kind !== 'server' || entry.stored === undefined || !isRead) {
      return this.#show(key, entry)
    }
    const known = this.#withDigest(entry.stored.digest)
    if (known !== undefined) return this.#show(key, withLists(entry, known))
    this.#incomplete.set(key, entry)
    this.#attempt(key, entry)
  }

  end(key: string): void {
    this.#incomplete.delete(key)
    this.entries.delete(key)
    this.#listeners.call()
  }

  #show(key: string, entry: CatalogEntry): void {
    this.entries.set(key, entry)
    this.#listeners.call()
  }

  #attempt(key: string, entry: ServerEntry): void {
    const attempt = this.#complete(key, entry).finally(() => this.#attempts.delete(attempt))
    this.#attempts.add(attempt)
  }

  async #complete(key: string, entry: ServerEntry): Promise<void> {
    try {
      const read = await this.#read(entry)
      if (this.#incomplete.get(key) !== entry) return
      this.#incomplete.delete(key)
      this.#show(key, withLists(entry, read))
    } catch (error) {
      if (this.#incomplete.get(key) !== entry || this.#deps.isClosed()) return
      this.#deps.warn(error, `read the lists of ${entry.server}`)
      if (!this.entries.has(key)) this.#show(key, unreadable(entry, error))
      setTimeout(() => {
        if (this.#incomplete.get(key) === entry) this.#attempt(key, entry)
      }, RETRY_MS).unref()
    }
  }

  #read(entry: ServerEntry): Promise<ServerEntry> {
    const digest = entry.stored?.digest ?? ''
    const reading =
      this.#reads.get(digest) ??
      readLists(this.#deps.blobs, entry).finally(() => this.#reads.delete(digest))
    this.#reads.set(digest, reading)
    return reading
  }

  #withDigest(digest: string): ServerEntry | undefined {
    return this.entries
      .values()
      .filter((entry) => entry.kind === 'server')
      .find(({ stored }) => stored?.digest === digest)
  }
}

function withLists(
  entry: ServerEntry,
  { capabilities, instructions, tools, prompts, resources, resourceTemplates }: ServerEntry,
): ServerEntry {
  const lists = { capabilities, instructions, tools, prompts, resources, resourceTemplates }
  return { ...entry, ...lists }
}

/** The entry without its `stored` lists, which other readers must not try to read. */
function unreadable(incomplete: ServerEntry, error: unknown): ServerEntry {
  const { stored: _, ...entry } = incomplete
  const reason = `its lists cannot be read right now: ${BusError.from(error).message}`
  return { ...entry, state: 'unavailable', error: reason }
}
