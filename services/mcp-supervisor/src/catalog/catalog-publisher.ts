import type { Bus, CatalogView } from '@mcp-host/bus'
import type { ServerEntry, ServerName, ServerStats } from '@mcp-host/contracts'
import { BusError, catalogKey } from '@mcp-host/contracts'

/**
 * A supervisor that is silent for longer is absent, and so are its servers. Longer than a freeze or an election of the
 * broker; live peers remove the entries of a dead supervisor long before.
 */
const PRESENCE_TTL_MS = 20_000
const PRESENCE_MS = 2_000
const RETRY_MS = 250
/** Checks before the entries of an absent supervisor are removed: it may only have lost the broker. */
const LOOKS_BEFORE_REMOVAL = 3
/** Entries are put again before their stored lists end, after 30 days. */
const RENEW_MS = 10 * 24 * 3_600_000

export interface CatalogPublisherDeps {
  readonly bus: Pick<Bus, 'id' | 'catalog'>
  readonly view: CatalogView
  /** Whether a supervisor does not answer and is dead. */
  readonly isGone: (supervisor: string) => Promise<boolean>
  /** Statistics of each server, read at each heartbeat. */
  readonly stats: () => Readonly<Record<string, ServerStats>>
  /** The names of the configured servers. */
  readonly configured: () => readonly string[]
  /** The fault of the configuration, if there is one. */
  readonly faults: () => string | undefined
  readonly warn: (error: unknown) => void
  /** Told whenever this supervisor has said that it is present. */
  readonly onTold?: () => void
}

/**
 * Publishes the servers of this supervisor in the catalog, and its presence. Entries that were not stored, or that
 * peers removed after a false death, are put again.
 */
export class CatalogPublisher implements AsyncDisposable {
  readonly #deps: CatalogPublisherDeps
  readonly #startedAt = Date.now()
  readonly #wanted = new Map<ServerName, ServerEntry>()
  readonly #stored = new Map<ServerName, { readonly entry: ServerEntry; readonly at: number }>()
  readonly #absent = new Map<string, number>()
  readonly #forgetting = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #writing: Promise<void> | undefined
  /** Writes that failed in a row. */
  #failures = 0
  #isDirty = false
  #isClosed = false

  constructor(deps: CatalogPublisherDeps) {
    this.#deps = deps
  }

  /** Makes this supervisor present, from now on again and again. */
  async start(): Promise<void> {
    await this.#look()
  }

  set(entry: ServerEntry): void {
    this.#wanted.set(entry.server, entry)
    void this.#write()
  }

  remove(server: ServerName): void {
    this.#wanted.delete(server)
    void this.#write()
  }

  /** Tells the figures, faults and configured servers before it is time. */
  async tell(): Promise<void> {
    if (this.#isClosed) return
    const { bus, stats, configured, faults } = this.#deps
    const told = faults()
    await bus.catalog.put(
      {
        kind: 'supervisor',
        id: bus.id,
        startedAt: this.#startedAt,
        servers: stats(),
        configured: [...configured()],
        ...(told === undefined ? {} : { faults: told }),
      },
      { ttlMs: PRESENCE_TTL_MS },
    )
    this.#deps.onTold?.()
  }

  /** Removes what a dead supervisor has left. One that is alive after all puts it again. */
  forget(supervisor: string): Promise<void> {
    // All waiting callers find a supervisor dead at the same moment.
    const forgetting =
      this.#forgetting.get(supervisor) ??
      this.#forget(supervisor).finally(() => void this.#forgetting.delete(supervisor))
    this.#forgetting.set(supervisor, forgetting)
    return forgetting
  }

  async #forget(supervisor: string): Promise<void> {
    const { bus, view } = this.#deps
    const left = Array.from(view.entries.values()).filter(
      (entry) =>
        (entry.kind === 'server' && entry.supervisor === supervisor) ||
        (entry.kind === 'supervisor' && entry.id === supervisor),
    )
    await Promise.all(left.map((entry) => bus.catalog.remove(entry)))
  }

  /** Leaves nothing of this supervisor behind, if the broker can be reached. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#writing
    // Entries that cannot be removed expire with the presence.
    await this.forget(this.#deps.bus.id).catch((error: unknown) => this.#deps.warn(error))
  }

  /** One round at a time; concurrent callers share it. */
  #look(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      for (const { entry, at } of this.#stored.values()) {
        // A peer removed it.
        const isGone = !this.#deps.view.entries.has(catalogKey(entry))
        if (isGone || at + RENEW_MS < Date.now()) this.#stored.delete(entry.server)
      }
      await this.tell()
      await this.#write()
      await this.#removeAbsent()
      await this.#removeDead()
      this.#again(this.#pauseMs())
    } catch (error) {
      this.#deps.warn(error)
      // Retried as soon as the broker is back: until then the servers of this supervisor cannot be seen.
      this.#again(RETRY_MS)
    }
  }

  #again(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), ms)
  }

  /** Backs off from failure to failure: the broker may refuse the content of an entry. */
  #pauseMs(): number {
    if (this.#failures === 0) return PRESENCE_MS
    return Math.min(PRESENCE_MS, RETRY_MS * 2 ** (this.#failures - 1))
  }

  /** One write at a time: an older entry must not come after a newer one. */
  #write(): Promise<void> {
    this.#isDirty = true
    this.#writing ??= this.#writeAll()
      .then(
        () => {
          this.#failures = 0
        },
        (error: unknown) => {
          this.#deps.warn(error)
          this.#failures++
          this.#again(this.#pauseMs())
        },
      )
      .finally(() => {
        this.#writing = undefined
      })
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    const { catalog } = this.#deps.bus
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false
      const puts = Array.from(this.#wanted, async ([server, entry]) => {
        if (this.#stored.get(server)?.entry === entry) return
        await this.#put(entry)
        this.#stored.set(server, { entry, at: Date.now() })
      })
      const removals = Array.from(this.#stored, async ([server, { entry }]) => {
        if (this.#wanted.has(server)) return
        await catalog.remove(entry)
        this.#stored.delete(server)
      })
      // An entry that the broker refuses holds up no other.
      const ends = await Promise.allSettled([...puts, ...removals])
      const failed = ends.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    }
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
      // There may be room again.
      if (code === 'exhausted') throw cause
    }
  }

  async #removeAbsent(): Promise<void> {
    const { bus, view } = this.#deps
    const entries = Array.from(view.entries.values())
    const present = new Set(entries.map((entry) => (entry.kind === 'supervisor' ? entry.id : '')))
    const absent = new Set(
      entries
        .filter((entry) => entry.kind === 'server')
        .map(({ supervisor }) => supervisor)
        .filter((id) => !present.has(id) && id !== bus.id),
    )
    for (const id of this.#absent.keys()) if (!absent.has(id)) this.#absent.delete(id)
    for (const id of absent) {
      const looks = (this.#absent.get(id) ?? 0) + 1
      this.#absent.set(id, looks)
      if (looks >= LOOKS_BEFORE_REMOVAL) await this.forget(id)
    }
  }

  async #removeDead(): Promise<void> {
    const { bus, view, isGone } = this.#deps
    const peers = Array.from(view.entries.values())
      .filter((entry) => entry.kind === 'supervisor')
      .filter(({ id }) => id !== bus.id)
    await Promise.all(
      peers.map(async ({ id }) => {
        if (await isGone(id)) await this.forget(id)
      }),
    )
  }
}
