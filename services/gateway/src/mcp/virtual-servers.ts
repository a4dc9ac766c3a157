import type { CatalogView } from '@mcp-host/bus'
import { ChangeEmitter } from '@mcp-host/bus'
import type { CatalogEntry, ServerEntry, ServerView } from '@mcp-host/contracts'
import {
  BUILT_IN_SERVERS,
  isConfigured,
  ownValue,
  unreportedServers,
  viewServers,
} from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import {
  type Bundle,
  bundleListing,
  type ItemAddress,
  listedNames,
  MergedListing,
  privately,
  type ServerListing,
  type VirtualServer,
} from '@mcp-host/mcp-endpoint'
import type { AbsentServer } from './absent-server.ts'
import { absentServer } from './absent-server.ts'

/**
 * The time for which the last listing of an absent server is used, since the server may be moving to another
 * supervisor.
 */
const REMEMBERED_MS = 60_000

/** Limit for the virtual servers in memory. */
const MAX_VIRTUAL_SERVERS = 10_000

/** The time for which a new gateway waits for servers that are starting. */
const SETTLE_MS = 5_000

/** The virtual servers by address, built from the catalog. */
export class VirtualServers {
  readonly #catalog: CatalogView
  readonly #now: () => number
  /** The last ready entry of each server, with the time until which it is used. */
  readonly #known = new Map<string, { readonly entry: ServerEntry; readonly until: number }>()
  readonly #virtualServers = new Map<string, VirtualServer>()
  readonly #listings = new Map<string, MergedListing>()
  readonly #changes = new ChangeEmitter()
  #bundles: Readonly<Record<string, Bundle>> = {}
  /** Pending until the servers that start with this gateway are listed. */
  #settling: PromiseWithResolvers<void> | undefined
  /** The time at which the first remembered entry expires. */
  #nextEnd = Infinity
  /** The state of the catalog that the listings were built from. */
  #state = ''
  /** Makes the name of an item unique among the configured servers. */
  #join: (place: ItemAddress) => string = listedNames([])

  constructor(catalog: CatalogView, now: () => number = () => performance.now()) {
    this.#catalog = catalog
    this.#now = now
    this.#settling = Promise.withResolvers()
    this.#take()
    if (this.#settling !== undefined) setTimeout(() => this.#settle(), SETTLE_MS).unref()
    catalog.onChange(() => this.#take())
  }

  /** Resolves when all listings are complete, or 5 s after the start; `undefined` once they are. */
  get settling(): Promise<void> | undefined {
    return this.#settling?.promise
  }

  /** All servers, with items named `server__name`. */
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
    if (!this.#known.has(name)) {
      // Clients choose such names, and without supervisors any may come.
      if (this.#virtualServers.size >= MAX_VIRTUAL_SERVERS || !this.#mayCome(name)) return undefined
    }
    return this.#virtualServer(
      `server ${name}`,
      (entries) => {
        const own = entries.filter(({ server }) => server === name)
        return new MergedListing(own.map(toServerListing), (place) => place.name, {
          absent: (tool) => this.#absent(`${name}__${tool}`),
        })
      },
      { server: name, servers: [name] },
    )
  }

  /** A bundle of the configuration; `undefined` when there is no such bundle. */
  bundle(name: string): VirtualServer | undefined {
    const bundle = ownValue(this.#bundles, name)
    if (bundle === undefined) return undefined
    const make = (entries: readonly ServerEntry[]): MergedListing =>
      bundleListing(bundle, entries.map(toServerListing), this.#join, (tool) => {
        const found = this.#absent(tool)
        const { server } = found ?? {}
        const isOther = bundle.servers !== undefined && server !== undefined
        return isOther && ownValue(bundle.servers, server) === undefined ? undefined : found
      })
    const servers = bundle.servers && Object.keys(bundle.servers)
    return this.#virtualServer(`bundle ${name}`, make, { servers })
  }

  /** Replaces the bundles. */
  setBundles(bundles: Readonly<Record<string, Bundle>>): void {
    this.#bundles = bundles
    this.#virtualServers.clear()
    this.#listings.clear()
    this.#changes.call()
  }

  #absent(name: string): AbsentServer | undefined {
    return absentServer(name, this.#catalog.entries.values())
  }

  /** Whether a server that is not listed may appear later. */
  #mayCome(name: string): boolean {
    const absent = this.#absent(`${name}__`)
    return absent !== undefined && (absent.server ?? name) === name
  }

  #virtualServer(
    key: string,
    make: (entries: readonly ServerEntry[]) => MergedListing,
    about: Pick<VirtualServer, 'server' | 'servers'> = {},
  ): VirtualServer {
    const known = this.#virtualServers.get(key)
    if (known !== undefined) return known
    const listing = (): MergedListing => this.#listing(key, make)
    const virtualServer: VirtualServer = {
      ...about,
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

  /** Removes remembered entries that have expired. */
  #refresh(): void {
    if (this.#nextEnd < this.#now()) this.#take()
  }

  #settle(): void {
    this.#settling?.resolve()
    this.#settling = undefined
  }

  /** Takes the entries of the catalog. Statistics change all the time, so only changes of lists have an effect. */
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
    const plain = sorted.flatMap(({ entry: { type, server } }) => {
      const prefix = type === 'built-in' ? BUILT_IN_SERVERS.get(server) : undefined
      return prefix === undefined ? [] : [[server, prefix] as const]
    })
    this.#join = listedNames(servers, new Map(plain))
    this.#listings.clear()
    this.#changes.call()
  }
}

/** Whether every configured server has reported that it is ready, or why it is not. */
function isWhole(entries: readonly CatalogEntry[]): boolean {
  return (
    entries.some(({ kind }) => kind === 'supervisor') &&
    unreportedServers(entries).length === 0 &&
    viewServers(entries).every(({ state }) => state !== 'starting')
  )
}

/** Converts a server's entry to its listing. */
export function toServerListing({ server, scope, ...entry }: ServerEntry): ServerListing {
  const { tools, prompts = [], resources = [], resourceTemplates = [] } = entry
  const { capabilities, instructions } = entry
  const isOwn = scope === 'session'
  const lists = { tools, prompts, resources, resourceTemplates }
  const { announcedAt, validation } = entry
  const caching = cachingOf(entry, isOwn)
  return { server, isOwn, capabilities, instructions, ...lists, caching, announcedAt, validation }
}

/** The latest announced changes. Several supervisors of a server may receive the same announcement. */
function latestAnnouncements({ instances }: ServerView): ServerEntry['announcedAt'] {
  const latest: Record<string, number> = {}
  for (const { entry } of instances) {
    for (const [list, at = 0] of Object.entries(entry.announcedAt ?? {})) {
      latest[list] = Math.max(latest[list] ?? 0, at)
    }
  }
  return latest
}

/** The caching hints. Lists of a server with dedicated processes are read once, and later changes are not announced. */
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
  const all = Object.fromEntries(lists)
  // Each client has its own process, which may have other lists.
  return isOwn ? privately(all) : all
}
