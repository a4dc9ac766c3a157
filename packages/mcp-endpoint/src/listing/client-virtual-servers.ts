import type { VirtualServer } from './virtual-server.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ServerListing } from './server-listing.ts'

/** The lists of dedicated processes that differ from those of the shared process. */
export interface ClientListings {
  /** The servers with such lists for a client, each with the version of its lists; `undefined`: none. */
  versions(client: string): ReadonlyMap<string, string> | undefined
  onChange(listener: () => void): Disposable
  /** `undefined`: the process cannot be asked. */
  read(server: string, client: string): Promise<ServerListing | undefined>
}

interface Seen {
  readonly listing: MergedListing
  /** Whether all processes could be asked. */
  readonly isWhole: boolean
}

interface KnownOffer {
  /** The state of the catalog that it was built from. */
  readonly state: string
  readonly seen: Promise<Seen>
}

/**
 * The number of clients whose merged listings are cached for each virtual server. A listing of thousands of tools is
 * large.
 */
const MAX_KNOWN = 200
/** The delay before a process that did not answer is asked again, since it may only be cut off. */
const AGAIN_MS = 1_000

/** The virtual servers of one client, with the lists of its dedicated processes. */
export class ClientVirtualServers {
  readonly #lists: ClientListings
  /** Cached listings by client. They are dropped when the common listing changes. */
  readonly #known = new WeakMap<MergedListing, Map<string, KnownOffer>>()

  constructor(lists: ClientListings) {
    this.#lists = lists
  }

  /** The virtual server with a client's listing; `undefined` when the client has the common one. */
  find(client: string, virtualServer: VirtualServer): Promise<VirtualServer> | undefined {
    const { servers } = virtualServer
    return this.#see(client, virtualServer)?.then(({ listing }) => ({
      servers,
      listing,
      onChange: (listener) => virtualServer.onChange(listener),
    }))
  }

  /** The virtual server with a client's listing, kept up to date until disposed. It begins with the common one. */
  follow(client: string, virtualServer: VirtualServer): VirtualServer & Disposable {
    const listeners = new Set<() => void>()
    const stack = new DisposableStack()
    let { listing } = virtualServer
    let turn = 0
    let again: ReturnType<typeof setTimeout> | undefined
    const set = (next: MergedListing): void => {
      if (next === listing) return
      listing = next
      for (const listener of listeners) listener()
    }
    const update = (): void => {
      clearTimeout(again)
      const now = ++turn
      const seen = this.#see(client, virtualServer)
      if (seen === undefined) return set(virtualServer.listing)
      void seen.then(({ listing: next, isWhole }) => {
        if (now !== turn) return
        set(next)
        if (!isWhole) again = setTimeout(update, AGAIN_MS)
      })
    }
    stack.use(virtualServer.onChange(update))
    stack.use(this.#lists.onChange(update))
    stack.defer(() => {
      turn++
      clearTimeout(again)
    })
    update()
    return {
      get listing() {
        return listing
      },
      onChange(listener) {
        listeners.add(listener)
        return { [Symbol.dispose]: () => void listeners.delete(listener) }
      },
      [Symbol.dispose]: () => stack.dispose(),
    }
  }

  #see(client: string, virtualServer: VirtualServer): Promise<Seen> | undefined {
    const versions = this.#lists.versions(client)
    if (versions === undefined) return undefined
    const { listing } = virtualServer
    const own = [...versions].filter(([server]) => listing.isOwn(server))
    if (own.length === 0) return undefined
    const state = JSON.stringify(own)
    const all = this.#known.get(listing) ?? new Map<string, KnownOffer>()
    this.#known.set(listing, all)
    const known = all.get(client)
    if (known?.state === state) return known.seen
    const servers = own.map(([server]) => server)
    const latest = { state, seen: this.#read(client, listing, servers) }
    all.delete(client)
    const [oldest] = all.keys()
    if (oldest !== undefined && all.size >= MAX_KNOWN) all.delete(oldest)
    all.set(client, latest)
    void latest.seen.then(({ isWhole }) => {
      // The listing is incomplete, so the next request reads it again.
      if (!isWhole && all.get(client) === latest) all.delete(client)
    })
    return latest.seen
  }

  async #read(client: string, listing: MergedListing, servers: readonly string[]): Promise<Seen> {
    const read = servers.map((server) => this.#lists.read(server, client))
    const found = (await Promise.all(read)).filter((each) => each !== undefined)
    const isWhole = found.length === servers.length
    if (found.length === 0) return { listing, isWhole }
    return { listing: listing.with(new Map(found.map((each) => [each.server, each]))), isWhole }
  }
}
