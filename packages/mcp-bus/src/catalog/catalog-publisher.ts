import type { Bus, CatalogView } from '@mcp-host/bus'
import type { ServerEntry, ServerName, ServerStats } from '@mcp-host/contracts'
import { BusError, catalogKey, presentSupervisors } from '@mcp-host/contracts'

/**
 * The time of silence after which a supervisor and its servers count as absent. It is longer than a freeze or an
 * election of the broker; live peers remove the entries of a dead supervisor much earlier.
 */
const PRESENCE_TTL_MS = 20_000
const PRESENCE_MS = 2_000
const RETRY_MS = 250
/** The number of checks before the entries of an absent supervisor are removed, since it may only be disconnected. */
const CHECKS_BEFORE_REMOVAL = 3
/** Entries are put again before their stored lists expire, after 30 days. */
const RENEW_MS = 10 * 24 * 3_600_000

interface CatalogPublisherDeps {
  readonly bus: Pick<Bus, 'id' | 'catalog'>
  readonly view: CatalogView
  /** Whether a supervisor is dead. */
  readonly isGone: (supervisor: string) => Promise<boolean>
  /** Statistics of each server, read at each heartbeat. */
  readonly stats: () => Readonly<Record<string, ServerStats>>
  /** The names of the configured servers. */
  readonly configured: () => readonly string[]
  /** The fault of the configuration, if there is one. */
  readonly faults: () => string | undefined
  /** The warnings about the configuration. */
  readonly warnings: () => readonly string[]
  readonly warn: (error: unknown) => void
  /** Called after each heartbeat. */
  readonly onHeartbeat?: () => void
}

/**
 * Publishes the servers of this supervisor in the catalog, and its presence. Entries are put again when they could not
 * be stored, or when peers removed them because this supervisor seemed dead.
 */
export class CatalogPublisher implements AsyncDisposable {
  readonly #deps: CatalogPublisherDeps
  readonly #startedAt = Date.now()
  readonly #wanted = new Map<ServerName, ServerEntry>()
  readonly #stored = new Map<ServerName, { readonly entry: ServerEntry; readonly at: number }>()
  /** The number of checks at which each supervisor with entries was absent. */
  #absences: ReadonlyMap<string, number> = new Map()
  readonly #removals = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #syncing: Promise<void> | undefined
  #writing: Promise<void> | undefined
  /** Consecutive failed writes. */
  #failures = 0
  #isDirty = false
  #isClosed = false

  constructor(deps: CatalogPublisherDeps) {
    this.#deps = deps
  }

  /** Makes this supervisor present, until disposed. */
  async start(): Promise<void> {
    await this.#sync()
  }

  set(entry: ServerEntry): void {
    this.#wanted.set(entry.server, entry)
    void this.#write()
  }

  remove(server: ServerName): void {
    this.#wanted.delete(server)
    void this.#write()
  }

  /** Publishes the statistics, fault, warnings and configured servers. */
  async sendHeartbeat(): Promise<void> {
    if (this.#isClosed) return
    const { bus, stats, configured, faults, warnings, onHeartbeat } = this.#deps
    await bus.catalog.put(
      {
        kind: 'supervisor',
        id: bus.id,
        startedAt: this.#startedAt,
        servers: stats(),
        configured: [...configured()],
        faults: faults(),
        warnings: [...warnings()],
      },
      { ttlMs: PRESENCE_TTL_MS },
    )
    onHeartbeat?.()
  }

  /** Removes the entries of a dead supervisor, which puts them again if it is alive. Coalesces concurrent calls. */
  forget(supervisor: string): Promise<void> {
    const removal =
      this.#removals.get(supervisor) ??
      this.#forget(supervisor).finally(() => void this.#removals.delete(supervisor))
    this.#removals.set(supervisor, removal)
    return removal
  }

  async #forget(supervisor: string): Promise<void> {
    const { bus, view } = this.#deps
    const entries = Array.from(view.entries.values()).filter(
      (entry) =>
        (entry.kind === 'server' && entry.supervisor === supervisor) ||
        (entry.kind === 'supervisor' && entry.id === supervisor),
    )
    await Promise.all(entries.map((entry) => bus.catalog.remove(entry)))
  }

  /** Removes all entries of this supervisor, if the broker can be reached. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#syncing
    await this.#writing
    // Entries that cannot be removed expire with the presence.
    await this.forget(this.#deps.bus.id).catch((error: unknown) => this.#deps.warn(error))
  }

  /** Coalesces concurrent calls. */
  #sync(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#syncing ??= this.#syncOnce().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  async #syncOnce(): Promise<void> {
    const { bus, view, warn } = this.#deps
    clearTimeout(this.#timer)
    try {
      for (const { entry, at } of this.#stored.values()) {
        const isRemoved = !view.entries.has(catalogKey(entry))
        if (isRemoved || at + RENEW_MS < Date.now()) this.#stored.delete(entry.server)
      }
      await this.sendHeartbeat()
      await this.#write()
      await this.#removeAbsent()
      const peers = presentSupervisors(view.entries.values()).filter((id) => id !== bus.id)
      await Promise.all(peers.map((id) => this.#removeDead(id)))
      this.#schedule(this.#pauseMs())
    } catch (error) {
      warn(error)
      // Soon: clients do not see the servers of this supervisor until the broker is back.
      this.#schedule(RETRY_MS)
    }
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#sync(), ms)
  }

  /** Backs off with each failure, since the broker may refuse the content of an entry. */
  #pauseMs(): number {
    if (this.#failures === 0) return PRESENCE_MS
    return Math.min(PRESENCE_MS, RETRY_MS * 2 ** (this.#failures - 1))
  }

  /** Writes one entry at a time, so that an older entry cannot overwrite a newer one. */
  #write(): Promise<void> {
    this.#isDirty = true
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#isDirty && !this.#isClosed) {
        this.#isDirty = false
        await this.#writeChanges()
      }
      this.#failures = 0
    } catch (error) {
      this.#deps.warn(error)
      this.#failures++
      this.#schedule(this.#pauseMs())
    }
    // A change from here on starts its own write.
    this.#writing = undefined
  }

  async #writeChanges(): Promise<void> {
    const puts = Array.from(this.#wanted, async ([server, entry]) => {
      if (this.#stored.get(server)?.entry === entry) return
      await this.#put(entry)
      this.#stored.set(server, { entry, at: Date.now() })
    })
    const removals = Array.from(this.#stored, async ([server, { entry }]) => {
      if (this.#wanted.has(server)) return
      await this.#deps.bus.catalog.remove(entry)
      this.#stored.delete(server)
    })
    // An entry that the broker refuses does not delay the others.
    const ends = await Promise.allSettled([...puts, ...removals])
    const failed = ends.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** Stores an entry. Lists that cannot be stored are replaced by an error that clients see. */
  async #put(entry: ServerEntry): Promise<void> {
    const { catalog } = this.#deps.bus
    try {
      await catalog.put(entry)
    } catch (cause) {
      const { code, message: error } = BusError.from(cause)
      if (code !== 'invalid' && code !== 'exhausted') throw cause
      const { prompts: _, resources: __, resourceTemplates: ___, ...rest } = entry
      await catalog.put({ ...rest, state: 'unavailable', error, tools: [] })
      // A full store may have room later.
      if (code === 'exhausted') throw cause
    }
  }

  async #removeAbsent(): Promise<void> {
    const { bus, view } = this.#deps
    const entries = Array.from(view.entries.values())
    const present = new Set(presentSupervisors(entries)).add(bus.id)
    const supervisors = entries.flatMap((entry) =>
      entry.kind === 'server' ? entry.supervisor : [],
    )
    const absent = supervisors.filter((id) => !present.has(id))
    this.#absences = new Map(absent.map((id) => [id, (this.#absences.get(id) ?? 0) + 1]))
    for (const [id, checks] of this.#absences) {
      if (checks >= CHECKS_BEFORE_REMOVAL) await this.forget(id)
    }
  }

  async #removeDead(supervisor: string): Promise<void> {
    if (await this.#deps.isGone(supervisor)) await this.forget(supervisor)
  }
}
