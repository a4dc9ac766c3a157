import type { Bus, CatalogView } from '@mcp-host/bus'
import type { Caller, CatalogEntry } from '@mcp-host/contracts'
import { listServerLogins, newEnvelope, unreportedServers, viewServers } from '@mcp-host/contracts'
import type { AccessPolicy, MissingServer, VirtualServer } from '@mcp-host/mcp-endpoint'

/** A list does not wait longer for the logins of its caller. */
const LIMIT_MS = 1_000

export interface MissingServersDeps {
  readonly bus: Pick<Bus, 'call'>
  readonly catalog: CatalogView
  readonly policy: Pick<AccessPolicy, 'isServerHidden'>
  /** The page at which users log in at a server; `undefined` where there is none. */
  readonly linkTo: (server: string) => string | undefined
}

/** How long and for how many users the needed logins are known. */
const KNOWN_MS = 2_000
const MAX_KNOWN = 1_000

interface Needed {
  readonly until: number
  readonly servers: Promise<readonly string[]>
}

interface State {
  readonly absent: readonly MissingServer[]
  /** The servers at which users log in. */
  readonly withUsers: readonly string[]
}

/** The servers that a list is without, or that ask its caller to log in. */
export class MissingServers {
  readonly #deps: MissingServersDeps
  #state: State | undefined
  readonly #needed = new Map<string, Needed>()

  constructor(deps: MissingServersDeps) {
    this.#deps = deps
    deps.catalog.onChange(() => (this.#state = undefined))
  }

  readonly of = (
    caller: Caller,
    { servers, listing }: VirtualServer,
  ): readonly MissingServer[] | Promise<readonly MissingServer[]> => {
    const { policy, catalog } = this.#deps
    const { absent, withUsers } = (this.#state ??= stateOf(catalog.entries.values()))
    if (absent.length === 0 && withUsers.length === 0) return absent
    const isMeant = (server: string): boolean =>
      servers?.includes(server) !== false && !policy.isServerHidden(caller, server)
    // The tools of a server that moves to another supervisor are listed for a while.
    const listed = new Set(listing.servers.map(({ server }) => server))
    const found = absent.filter(({ server }) => isMeant(server) && !listed.has(server))
    const asking = withUsers.filter(isMeant)
    if (asking.length === 0) return found
    return this.#loginsOf(caller, asking).then((needed) => [...found, ...needed])
  }

  /** Which of the servers ask the caller to log in. */
  async #loginsOf(caller: Caller, asking: readonly string[]): Promise<MissingServer[]> {
    const needed = await this.#neededBy(caller.id)
    return needed
      .filter((server) => asking.includes(server))
      .map((server) => ({ server, state: 'login-needed', link: this.#deps.linkTo(server) }))
  }

  /** The servers at which a user has no login that can be used. Lists that follow each other ask once. */
  #neededBy(principal: string): Promise<readonly string[]> {
    const now = performance.now()
    const known = this.#needed.get(principal)
    if (known !== undefined && known.until > now) return known.servers
    if (this.#needed.size >= MAX_KNOWN) this.#needed.clear()
    const options = { envelope: newEnvelope(principal), timeoutMs: LIMIT_MS }
    const servers = this.#deps.bus.call(listServerLogins, {}, {}, options).then(
      (listed) =>
        listed.servers.flatMap(({ server, logins }) =>
          logins.some(({ isNeeded }) => !isNeeded) ? [] : [server],
        ),
      // A list does not fail for this.
      () => [],
    )
    this.#needed.set(principal, { until: now + KNOWN_MS, servers })
    return servers
  }
}

function stateOf(all: Iterable<CatalogEntry>): State {
  const entries = Array.from(all)
  const views = viewServers(entries)
  const absent = views.filter(({ state }) => state !== 'ready')
  return {
    absent: [
      ...unreportedServers(entries).map((server) => ({ server, state: 'starting' as const })),
      ...absent.map(({ server, state }) => {
        // The reason may have commands and paths, which are for operators.
        return { server, state: state === 'starting' ? 'starting' : 'unavailable' } as const
      }),
    ],
    withUsers: views.flatMap(({ server, state, entry }) =>
      state === 'ready' && entry.scope === 'user' ? [server] : [],
    ),
  }
}
