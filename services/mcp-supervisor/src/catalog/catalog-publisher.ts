import type { Bus, CatalogView } from '@mcp-host/bus'
import type { ServerEntry, ServerName, ServerStats } from '@mcp-host/contracts'
import { BusError, catalogKey } from '@mcp-host/contracts'

/**
 * Who is silent for so long is absent, and its servers with it. Longer than a broker may be frozen or be
 * elected; what a dead one has left is removed by the others long before.
 */
const PRESENCE_TTL_MS = 20_000
const PRESENCE_MS = 2_000
const RETRY_MS = 250
/** How many looks an absent supervisor's entries outlast: it may only have lost the broker. */
const LOOKS_BEFORE_REMOVAL = 3
/** Entries are put again before their stored lists end, after 30 days. */
const RENEW_MS = 10 * 24 * 3_600_000

export interface CatalogPublisherDeps {
  readonly bus: Pick<Bus, 'id' | 'catalog'>
  readonly view: CatalogView
  /** Whether nobody answers for a supervisor any more. */
  readonly isGone: (supervisor: string) => Promise<boolean>
  /** Figures of each server, read when they are told. */
  readonly stats: () => Readonly<Record<string, ServerStats>>
  /** The names of the configured servers. */
  readonly configured: () => readonly string[]
  /** What is wrong with the configuration, if anything is. */
  readonly faults: () => string | undefined
  readonly warn: (error: unknown) => void
  /** Told whenever this supervisor has said that it is present. */
  readonly onTold?: () => void
}

/**
 * Keeps the catalog as the servers of this supervisor are, and this supervisor present. What was not
 * stored, or what others removed because they took us for dead, is put again.
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
    // Everybody who waits for one of its servers finds it dead at the same moment.
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
    // What cannot be removed now counts for nothing once the presence has ended.
    await this.forget(this.#deps.bus.id).catch((error: unknown) => this.#deps.warn(error))
  }

  /** One look at a time; who wants another meanwhile waits for it. */
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
        // Where somebody removed it.
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
      // At once when the broker is back: until then our servers are not there for anybody.
      this.#again(RETRY_MS)
    }
  }

  #again(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), ms)
  }

  /** Longer from failure to failure: the broker may refuse an entry for what it says. */
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

  /** Lists that cannot be stored are told in their place: nothing goes missing in silence. */
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
