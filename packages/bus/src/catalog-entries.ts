import type { CatalogEntry, ServerEntry } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Blobs, CatalogView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'
import { readLists } from './stored-lists.ts'

const RETRY_MS = 2_000

export interface CatalogEntriesDeps {
  readonly blobs: Pick<Blobs, 'get'>
  readonly isClosed: () => boolean
  readonly warn: (error: unknown, action: string) => void
}

/**
 * The catalog as one process sees it. An entry whose lists are stored shows once these were read, and the version
 * before it until then; versions of one key never show out of order.
 */
export class CatalogEntries implements CatalogView {
  readonly entries = new Map<string, CatalogEntry>()
  readonly #deps: CatalogEntriesDeps
  readonly #listeners = new ChangeEmitter()
  /** By key, the newest version while its lists are being read. */
  readonly #incomplete = new Map<string, ServerEntry>()
  /** By digest: several supervisors may run a server, and so store the same lists. */
  readonly #reads = new Map<string, Promise<ServerEntry>>()
  readonly #attempts = new Set<Promise<void>>()

  constructor(deps: CatalogEntriesDeps) {
    this.#deps = deps
  }

  readonly onChange = (listener: () => void): Disposable => this.#listeners.add(listener)

  /** Resolves once the lists of all entries so far were read, or could not be. */
  async settled(): Promise<void> {
    await Promise.all(this.#attempts)
  }

  put(key: string, entry: CatalogEntry): void {
    this.#incomplete.delete(key)
    if (entry.kind !== 'server' || entry.stored === undefined) return this.#show(key, entry)
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

/** Without the storage keys of the lists, which must not be read from here. */
function unreadable(incomplete: ServerEntry, error: unknown): ServerEntry {
  const { stored: _, ...entry } = incomplete
  const reason = `its lists cannot be read right now: ${BusError.from(error).message}`
  return { ...entry, state: 'unavailable', error: reason }
}
