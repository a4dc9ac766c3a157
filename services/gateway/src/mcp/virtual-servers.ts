import type { CatalogView } from '@mcp-host/bus'
import { ChangeEmitter } from '@mcp-host/bus'
import type { CatalogEntry, ServerEntry, ServerView } from '@mcp-host/contracts'
import { isConfigured, ownValue, untoldServers, viewServers } from '@mcp-host/contracts'
import type { ServerListing, ItemAddress } from './core/server-listing.ts'
import type { Bundle } from './core/bundle.ts'
import { bundleListing } from './core/bundle.ts'
import { listedNames } from './core/listed-names.ts'
import type { VirtualServer } from './core/virtual-server.ts'
import { MergedListing } from './core/merged-listing.ts'
import { isObject } from 'mcp-host/json'
import type { AbsentServer } from './absent-server.ts'
import { absentServer } from './absent-server.ts'

/**
 * The last listing of a configured server is used for this long after the server went away: it may be moving to another
 * supervisor.
 */
const REMEMBERED_MS = 60_000

/** The time limit after the start of a gateway for servers that start. */
const SETTLE_MS = 5_000

/** The virtual servers by address, built from the catalog. */
export class VirtualServers {
  readonly #catalog: CatalogView
  readonly #now: () => number
  /** The entry of each server when it was ready last, and until when it counts. */
  readonly #known = new Map<string, { readonly entry: ServerEntry; readonly until: number }>()
  readonly #virtualServers = new Map<string, VirtualServer>()
  readonly #listings = new Map<string, MergedListing>()
  readonly #changes = new ChangeEmitter()
  #bundles: Readonly<Record<string, Bundle>> = {}
  /** Until the servers that start with this gateway are there. */
  #settling: PromiseWithResolvers<void> | undefined
  /** When the first of them ends. */
  #nextEnd = Infinity
  /** The state of the catalog that the listings were built from. */
  #state = ''
  /** The name of an item among the configured servers. */
  #join: (place: ItemAddress) => string = listedNames([])

  constructor(catalog: CatalogView, now: () => number = () => performance.now()) {
    this.#catalog = catalog
    this.#now = now
    this.#settling = Promise.withResolvers()
    this.#take()
    if (this.#settling !== undefined) setTimeout(() => this.#settle(), SETTLE_MS).unref()
    catalog.onChange(() => this.#take())
  }

  /** Resolves when what is offered is whole, or 5 s after the start; `undefined`: it is. */
  get settling(): Promise<void> | undefined {
    return this.#settling?.promise
  }

  /** All servers, what they offer under `server__name`. */
  all(): VirtualServer {
    return this.#virtualServer('', (entries) => {
      return new MergedListing(entries.map(toServerListing), this.#join, {
        absent: (name) => this.#absent(name),
      })
    })
  }

  /** One server under its own names; `undefined` when there is none. */
  server(name: string): VirtualServer | undefined {
    this.#refresh()
    if (!this.#known.has(name) && !this.#mayCome(name)) return undefined
    return this.#virtualServer(`server ${name}`, (entries) => {
      const own = entries.filter(({ server }) => server === name)
      return new MergedListing(own.map(toServerListing), (place) => place.name, {
        absent: (tool) => this.#absent(`${name}__${tool}`),
      })
    })
  }

  /** Some of it, as the configuration has it; `undefined` when there is no such bundle. */
  bundle(name: string): VirtualServer | undefined {
    const bundle = ownValue(this.#bundles, name)
    if (bundle === undefined) return undefined
    return this.#virtualServer(`bundle ${name}`, (entries) =>
      bundleListing(bundle, entries.map(toServerListing), this.#join, (tool) => {
        const found = this.#absent(tool)
        const { server } = found ?? {}
        const isOther = bundle.servers !== undefined && server !== undefined
        return isOther && ownValue(bundle.servers, server) === undefined ? undefined : found
      }),
    )
  }

  /** The tools of all ready servers; waits a little for servers that start. */
  setBundles(bundles: Readonly<Record<string, Bundle>>): void {
    this.#bundles = bundles
    this.#virtualServers.clear()
    this.#listings.clear()
    this.#changes.call()
  }

  #absent(name: string): AbsentServer | undefined {
    return absentServer(name, this.#catalog.entries.values())
  }

  /** Whether a server that was not seen, or not for long, may be there later. */
  #mayCome(name: string): boolean {
    const absent = this.#absent(`${name}__`)
    return absent !== undefined && (absent.server ?? name) === name
  }

  #virtualServer(
    key: string,
    make: (entries: readonly ServerEntry[]) => MergedListing,
  ): VirtualServer {
    const known = this.#virtualServers.get(key)
    if (known !== undefined) return known
    const listing = (): MergedListing => this.#listing(key, make)
    const virtualServer: VirtualServer = {
      get listing() {
        return listing()
      },
      onChange: (listener) => this.#changes.add(listener),
    }
    this.#virtualServers.set(key, virtualServer)
    return virtualServer
  }

  #listing(key: string, make: (entries: readonly ServerEntry[]) => MergedListing): MergedListing {
    this.#refresh()
    const listing =
      this.#listings.get(key) ?? make(Array.from(this.#known.values(), ({ entry }) => entry))
    this.#listings.set(key, listing)
    return listing
  }

  /** Removes listings whose time is over. */
  #refresh(): void {
    if (this.#nextEnd < this.#now()) this.#take()
  }

  #settle(): void {
    this.#settling?.resolve()
    this.#settling = undefined
  }

  /** Supervisors tell figures all the time: only what servers list makes a difference. */
  #take(): void {
    const entries = Array.from(this.#catalog.entries.values())
    if (this.#settling !== undefined && isWhole(entries)) this.#settle()
    for (const [server, { entry, until }] of this.#known) {
      if (until < this.#now() || !isConfigured(entries, server)) this.#known.delete(server)
      else if (until === Infinity) {
        this.#known.set(server, { entry, until: this.#now() + REMEMBERED_MS })
      }
    }
    for (const view of viewServers(entries)) {
      if (view.state !== 'ready') continue
      const announcedAt = latestAnnouncements(view)
      this.#known.set(view.server, { entry: { ...view.entry, announcedAt }, until: Infinity })
    }
    const sorted = Array.from(this.#known.values()).toSorted((one, other) =>
      one.entry.server < other.entry.server ? -1 : 1,
    )
    this.#known.clear()
    for (const each of sorted) this.#known.set(each.entry.server, each)
    this.#nextEnd = Math.min(...sorted.map(({ until }) => until), Infinity)
    const configured = entries.flatMap((entry) =>
      entry.kind === 'supervisor' ? (entry.configured ?? []) : [],
    )
    const servers = new Set([...configured, ...this.#known.keys()])
    const versions = sorted.map(({ entry }) => `${entry.server} ${entry.revision}`)
    const state = [...versions, ...Array.from(servers).toSorted()].join('\n')
    if (state === this.#state) return
    this.#state = state
    this.#join = listedNames(servers)
    this.#listings.clear()
    this.#changes.call()
  }
}

/** Whether every configured server has told that it is ready, or why it is not. */
function isWhole(entries: readonly CatalogEntry[]): boolean {
  return (
    entries.some(({ kind }) => kind === 'supervisor') &&
    untoldServers(entries).length === 0 &&
    viewServers(entries).every(({ state }) => state !== 'starting')
  )
}

/** A server as it lists itself. */
export function toServerListing({ server, scope, ...entry }: ServerEntry): ServerListing {
  const { tools, prompts = [], resources = [], resourceTemplates = [] } = entry
  const { capabilities, instructions } = entry
  const isOwn = scope === 'session'
  const lists = { tools, prompts, resources, resourceTemplates }
  const { announcedAt } = entry
  const caching = cachingOf(entry, isOwn)
  return { server, isOwn, capabilities, instructions, ...lists, caching, announcedAt }
}

/** A server may run at several supervisors, each of which hears it announce the same change. */
function latestAnnouncements({ instances }: ServerView): ServerEntry['announcedAt'] {
  const latest: Record<string, number> = {}
  for (const { entry } of instances) {
    for (const [list, at = 0] of Object.entries(entry.announcedAt ?? {})) {
      latest[list] = Math.max(latest[list] ?? 0, at)
    }
  }
  return latest
}

/** Lists of a server with dedicated processes are read once; later changes are not announced. */
function cachingOf(
  { capabilities, caching }: Pick<ServerEntry, 'capabilities' | 'caching'>,
  isOwn: boolean,
): NonNullable<ServerListing['caching']> {
  const isHeard = (list: string): boolean => {
    const capability = capabilities?.[list === 'resourceTemplates' ? 'resources' : list]
    return !isOwn && isObject(capability) && capability['listChanged'] === true
  }
  const lists = Object.entries(caching ?? {}).map(([list, each]) => {
    if (each === undefined || !isHeard(list)) return [list, each]
    const { listedAt: _, ...said } = each
    return [list, said]
  })
  return Object.fromEntries(lists)
}
