import type { VirtualServer } from './virtual-server.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ServerListing } from './server-listing.ts'

/** The lists of processes that clients have of their own, where those are not what all others see. */
export interface ClientListings {
  /** The servers of which a client has such lists, and what names them as they are now; `undefined`: none. */
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

/** An offer with some thousand tools is large: those of so many clients are kept for each mount. */
const MAX_KNOWN = 200
/** A process that cannot be asked may only be cut off. */
const AGAIN_MS = 1_000

/** The virtual servers of one client, with the lists of its dedicated processes. */
export class ClientVirtualServers {
  readonly #lists: ClientListings
  /** By client, for as long as what all see stays the same. */
  readonly #known = new WeakMap<MergedListing, Map<string, KnownOffer>>()

  constructor(lists: ClientListings) {
    this.#lists = lists
  }

  /** A mount as a client sees it right now; `undefined`: as all do. */
  find(client: string, virtualServer: VirtualServer): Promise<VirtualServer> | undefined {
    return this.#see(client, virtualServer)?.then(({ listing }) => ({
      listing,
      onChange: (listener) => virtualServer.onChange(listener),
    }))
  }

  /** A mount as a client sees it, until it is disposed. It begins with what all see. */
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
      // Incomplete: the next request reads it again.
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
