import type { Lease } from '@mcp-host/bus'
import type { McpRequestControl, ServerStats } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { RemoteServerConfig } from '@mcp-host/upstream'
import { aborted, pause } from '@mcp-host/async'
import { HostedServer, loginNeeded, ServedRequests } from '@mcp-host/mcp-bus/serve'
import { type Account, DEFAULT_LABEL } from '../logins/account.ts'
import type { HostLogins } from '../logins/host-logins.ts'
import type { AccountStore, KnownLogin } from '../logins/login-vault.ts'
import { type UserCaller, userKey } from './caller-keys.ts'
import { CallerUpstreams, type Use } from './caller-upstreams.ts'
import { ListingConnection } from './listing-connection.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

const DEFAULT_IDLE_MS = 300_000
/** The pause before the tools are listed again, when the server is away or nobody has a login. */
const LIST_RETRY_MS = 30_000
const LOGIN_RETRY_MS = 600_000
/** Limit for the logins by which the tools are tried to be listed. */
const MAX_LISTING_LOGINS = 3
/** The principal without a login, by whom tools are listed that need none. */
const NOBODY = ''

/** The connection of a user. */
interface UserConnection {
  readonly hosted: HostedServer
  readonly store: AccountStore
  /** Resolves when it is open, or cannot be opened. */
  opened: Promise<void>
}

/**
 * The policy of a server at which users log in: every user has a connection, at each supervisor that gets a request. The
 * supervisor with the server's lease publishes the tools, which it lists by the login of one of the users.
 */
export class PerUserPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #config: RemoteServerConfig
  readonly #logins: HostLogins
  readonly #users: CallerUpstreams<UserCaller>
  readonly #connections = new Map<string, UserConnection>()
  /** What takes control messages: one subscription serves all connections. */
  readonly #controls = new Set<(control: McpRequestControl) => void>()
  #listing: ListingConnection | undefined
  #listAgain = new AbortController()
  /** Whether the tools are published. */
  #wasListed = false
  /** The logins that the last attempt to list the tools could use. */
  #tried = ''

  constructor(context: PlacementContext, config: RemoteServerConfig, logins: HostLogins) {
    this.#context = context
    this.#config = config
    this.#logins = logins
    const { deps, name } = context
    const { idleTimeoutMs = DEFAULT_IDLE_MS } = config
    this.#users = new CallerUpstreams<UserCaller>(
      { bus: deps.bus, peers: deps.peers, slots: deps.userSlots, idleTimeoutMs, warn: this.#warn },
      { server: name, key: userKey, start: ({ principal }) => this.#start(principal) },
    )
  }

  async run(): Promise<void> {
    const { deps, name, signal } = this.#context
    using _changes = this.#logins.vault.onChange(() => this.#follow())
    using _control = deps.subjects.control(name, (control) => {
      for (const take of this.#controls) take(control)
    })
    const queue = deps.subjects.queue(name, {
      runTool: async (served) => {
        const use = await this.#locate(served.envelope.principal)
        return use((server) => server.runTool(served))
      },
      serveRequest: async (request, send) => {
        const use = await this.#locate(request.envelope.principal)
        return use((server) => server.serveRequest(request, send))
      },
    })
    try {
      for (;;) {
        await using lease = await this.#context.obtainLease({
          isLeftover: () => false,
          onForeign: async () => this.#context.unpublish(),
        })
        await this.#context.dependenciesReady(lease)
        while (lease.isHeld && !signal.aborted) await this.#list(lease)
      }
    } finally {
      queue[Symbol.dispose]()
      await this.#users.close({ isGraceful: true })
      this.#context.unpublish()
    }
  }

  async adapt(): Promise<boolean> {
    return false
  }

  async restart(): Promise<void> {
    await this.#users.restart()
    this.#listAgain.abort()
  }

  async runSessionTool(): Promise<never> {
    const message = `the MCP server "${this.#context.name}" has no processes of sessions`
    throw new BusError('not-found', message)
  }

  get output(): readonly string[] {
    return this.#listing?.output ?? []
  }

  stats(): Partial<ServerStats> {
    return { sessions: this.#users.size }
  }

  end(): Promise<void> {
    return this.#users.close({ isGraceful: false })
  }

  readonly #warn = (err: unknown): void => {
    const { deps, name } = this.#context
    const fields = { component: 'placement', action: 'user', server: name, err }
    deps.logger.warn(fields, 'the connection of a user failed')
  }

  #account(principal: string): Account {
    const { name: server } = this.#context
    return { server, url: this.#config.url, principal, label: DEFAULT_LABEL }
  }

  async #locate(principal: string): Promise<Use> {
    const located = await this.#users.locate({ principal })
    if (!('peer' in located)) return located
    throw new Error('connections of users have no leases')
  }

  #start(principal: string): HostedServer {
    const { deps, name: server } = this.#context
    const { bus, audit, inputTimeoutMs } = deps
    const account = this.#account(principal)
    const requests = new ServedRequests({ bus, audit, server, inputTimeoutMs, isOfUser: true })
    const loggedIn = (over: AbortSignal): Promise<void> => this.#loggedIn(account, over)
    const steps = [...deps.steps, loginNeeded({ link: this.#logins.linkTo(server), loggedIn })]
    const subjects = { ...deps.subjects, control: this.#listen }
    const logins = this.#logins.of(account)
    // The chats and clients of the user share the connection, so the server cannot ask any of them.
    const answers = { callback: requests.callback, kinds: ['log'] as const, logins }
    const options = { name: server, config: this.#config, answers, requests }
    const hosted = new HostedServer({ ...deps, steps, subjects }, options)
    this.#connections.set(principal, { hosted, store: logins.store, opened: hosted.started() })
    return hosted
  }

  readonly #listen = (_: string, take: (control: McpRequestControl) => void): Disposable => {
    this.#controls.add(take)
    return { [Symbol.dispose]: () => void this.#controls.delete(take) }
  }

  /** Resolves when an account has a login by which its connection was opened. Stops waiting when the signal aborts. */
  async #loggedIn(account: Account, over: AbortSignal): Promise<void> {
    const { vault } = this.#logins
    const found = Promise.withResolvers<void>()
    const look = (): void => {
      const login = vault.known(account)
      if (login?.isUsable === true && login.demanded === undefined) found.resolve()
    }
    using _changes = vault.onChange(look)
    look()
    await Promise.race([found.promise, aborted(over)])
    this.#renew(account.principal)
    await this.#connections.get(account.principal)?.opened
  }

  /** Applies changes of logins. */
  #follow(): void {
    for (const principal of this.#connections.keys()) this.#renew(principal)
    const { isReady = false, account } = this.#listing ?? {}
    const usable = this.#usable()
    const isOver =
      account !== undefined &&
      account.principal !== NOBODY &&
      !usable.some(({ principal }) => principal === account.principal)
    if (isReady ? isOver : idsOf(usable) !== this.#tried) this.#listAgain.abort()
  }

  /** Opens the connection of a user again when the login is another one; without a login, ends it. */
  #renew(principal: string): void {
    const connection = this.#connections.get(principal)
    if (connection === undefined) return
    const { hosted, store } = connection
    const login = this.#logins.vault.known(this.#account(principal))
    if (!this.#users.has(principal)) this.#connections.delete(principal)
    else if (login === undefined) void this.#users.end(principal)
    else if (login.id !== store.loadedId) {
      // Its state and the log have a failure.
      connection.opened = hosted.restart().catch(() => undefined)
    }
  }

  /** The logins by which the tools can be listed, oldest first, so that the list does not change with each new one. */
  #usable(): KnownLogin[] {
    return this.#logins.vault
      .at(this.#account(NOBODY))
      .filter(({ isUsable }) => isUsable)
      .toSorted((one, other) => one.connectedAt - other.connectedAt)
  }

  /** Publishes the tools as a connection lists them. Returns when another connection has to list them. */
  async #list(lease: Lease): Promise<void> {
    const { signal } = this.#context
    this.#listAgain = new AbortController()
    const over = AbortSignal.any([lease.lost, signal, this.#listAgain.signal])
    const usable = this.#usable()
    this.#tried = idsOf(usable)
    for (const account of [...usable.slice(0, MAX_LISTING_LOGINS), this.#account(NOBODY)]) {
      const logins = this.#logins.of(account)
      const onLoginLost = (): void => this.#listAgain.abort()
      await using listing = new ListingConnection(this.#context, { account, logins, onLoginLost })
      this.#listing = listing
      await listing.opened(over)
      if (over.aborted) return
      if (!listing.isReady && account.principal !== NOBODY) continue
      // The tools stay when the last user has disconnected: a call of them tells where to log in.
      if (!listing.isLoginNeeded || !this.#wasListed) listing.publish()
      this.#wasListed ||= listing.isReady
      if (listing.isReady) return await aborted(over)
      return await pause(listing.isLoginNeeded ? LOGIN_RETRY_MS : LIST_RETRY_MS, over)
    }
  }
}

function idsOf(logins: readonly KnownLogin[]): string {
  return logins.map(({ id }) => id).join(' ')
}
