import type { Lease } from '@mcp-host/bus'
import type { McpRequestControl, ServerStats } from '@mcp-host/contracts'
import { BusError, DEFAULT_LABEL, OPTIONS_META_KEY, RequestOptions } from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import type { AccountRule } from '@mcp-host/upstream'
import { aborted, pause } from '@mcp-host/async'
import type { IncomingRequest, UserServerConfig } from '@mcp-host/mcp-bus/serve'
import {
  callSteps,
  hasLogins,
  HostedServer,
  loginNeeded,
  ServedRequests,
} from '@mcp-host/mcp-bus/serve'
import type { Account } from '../logins/account.ts'
import { chooseLabel } from '../logins/choose-label.ts'
import { loginServerOf } from '../logins/login-server.ts'
import type { HostLogins } from '../logins/host-logins.ts'
import type { KnownLogin } from '../logins/login-vault.ts'
import { type UserCaller, userKey } from './caller-keys.ts'
import { CallerUpstreams, type Use } from './caller-upstreams.ts'
import { ListingConnection } from './listing-connection.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'
import { UserConnection } from './user-connection.ts'

const DEFAULT_IDLE_MS = 300_000
/** The pause before the tools are listed again, when the server is away or nobody has a login. */
const LIST_RETRY_MS = { first: 1_000, max: 30_000 }
const LOGIN_RETRY_MS = 600_000
/** Limit for the logins by which the tools are tried to be listed. */
const MAX_LISTING_LOGINS = 3
/** The account by which tools are listed without a user: one without a login, or the host itself. */
const NOBODY = { principal: '', label: DEFAULT_LABEL }

/**
 * The policy of a server with one connection for each user: every user has a connection, at each supervisor that gets a request. The
 * supervisor with the server's lease publishes the tools, which it lists by the login of one of the users.
 */
export class PerUserPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #config: UserServerConfig
  /** The address to which logins are bound. */
  readonly #url: string
  readonly #logins: HostLogins
  readonly #rules: readonly AccountRule[]
  readonly #users: CallerUpstreams<UserCaller>
  readonly #connections = new Map<string, UserConnection>()
  /** What takes control messages: one subscription serves all connections. */
  readonly #controls = new Set<(control: McpRequestControl) => void>()
  #listing: ListingConnection | undefined
  #listAgain = new AbortController()
  /** How often in succession the server was away when its tools were to be listed. */
  #failures = 0
  /** Whether the tools are published. */
  #wasListed = false
  /** The logins that the last attempt to list the tools could use. */
  #tried = ''

  constructor(context: PlacementContext, config: UserServerConfig, logins: HostLogins) {
    this.#context = context
    this.#config = config
    this.#url = hasLogins(config) ? loginServerOf(config).url : config.url
    this.#logins = logins
    this.#rules = hasLogins(config) ? (config.auth.accounts ?? []) : []
    const { deps, name } = context
    const { idleTimeoutMs = DEFAULT_IDLE_MS } = config
    const slots = config.type === 'stdio' ? deps.slots : deps.userSlots
    this.#users = new CallerUpstreams<UserCaller>(
      { bus: deps.bus, peers: deps.peers, slots, idleTimeoutMs, warn: this.#warn },
      { server: name, key: userKey, start: (caller) => this.#start(caller) },
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
        const { arguments: given, options } = served.request
        const { principal } = served.envelope
        const use = await this.#locate(principal, given, options?.account)
        return use((server) => server.runTool(served))
      },
      serveRequest: async (request, send) => {
        const { principal } = request.envelope
        const { given, account } = this.#isChoice(principal) ? choiceIn(request) : {}
        const use = await this.#locate(principal, given, account)
        return use((server) => server.serveRequest(request, send))
      },
    })
    try {
      for (;;) {
        await using lease = await this.#context.obtainLease({
          isLeftover: () => false,
          onForeign: async () => {
            this.#wasListed = false
            this.#context.unpublish()
          },
        })
        if (!this.#wasListed) this.#context.publishStarting()
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
    const sessions = this.#users.size
    if (!hasLogins(this.#config)) return { sessions }
    const all = this.#logins.vault.at(this.#account(NOBODY))
    const usable = all.filter(({ isUsable }) => isUsable).length
    return { sessions, logins: { usable, needed: all.length - usable } }
  }

  end(): Promise<void> {
    return this.#users.close({ isGraceful: false })
  }

  readonly #warn = (err: unknown): void => {
    const { deps, name } = this.#context
    const fields = { component: 'placement', action: 'user', server: name, err }
    deps.logger.warn(fields, 'the connection of a user failed')
  }

  #account({ principal, label }: UserCaller): Account {
    const { name: server } = this.#context
    return { server, url: this.#url, principal, label }
  }

  /** Whether a request of a user must be read to choose its login. */
  #isChoice(principal: string): boolean {
    return this.#rules.length > 0 || this.#loginsOf(principal).length > 0
  }

  #loginsOf(principal: string): KnownLogin[] {
    if (!hasLogins(this.#config)) return []
    return this.#logins.vault.of(this.#account({ principal, label: DEFAULT_LABEL }))
  }

  async #locate(principal: string, given: unknown, wanted: string | undefined): Promise<Use> {
    const logins = this.#loginsOf(principal)
    const choice = { rules: this.#rules, logins, wanted, arguments: given }
    const label = hasLogins(this.#config) ? chooseLabel(choice) : DEFAULT_LABEL
    // The empty name is that of the host itself.
    if (principal === '') throw new BusError('invalid', 'the request has no principal')
    const located = await this.#users.locate({ principal, label })
    if ('peer' in located) throw new Error('connections of users have no leases')
    return located
  }

  #start(caller: UserCaller): HostedServer {
    const { deps, name: server } = this.#context
    const { bus, audit, inputTimeoutMs } = deps
    const account = this.#account(caller)
    const name = userKey.nameOf(caller)
    const requests = new ServedRequests({ bus, audit, server, inputTimeoutMs, isOfUser: true })
    const logins = this.#logins.of(account)
    const { store } = logins
    const connection = hasLogins(this.#config)
      ? new UserConnection({
          vault: this.#logins.vault,
          account,
          store,
          hosted: () => hosted,
          isProgram: this.#config.type === 'stdio',
          end: () => this.#users.end(name),
        })
      : undefined
    const steps = callSteps({ audit, detail: { label: account.label } })
    if (connection !== undefined) {
      const link = this.#logins.linkTo(account)
      const label = account.label === DEFAULT_LABEL ? undefined : account.label
      const { loggedIn, step } = connection
      steps.push(loginNeeded({ link, label, loggedIn }), step)
      this.#connections.set(name, connection)
    }
    const subjects = { ...deps.subjects, control: this.#listen }
    // The chats and clients of the user share the connection, so the server cannot ask any of them.
    const answers = { callback: requests.callback, kinds: ['log'] as const, logins }
    const options = { name: server, config: this.#config, answers, requests }
    const hosted = new HostedServer({ ...deps, steps, subjects }, options)
    return hosted
  }

  readonly #listen = (_: string, take: (control: McpRequestControl) => void): Disposable => {
    this.#controls.add(take)
    return { [Symbol.dispose]: () => void this.#controls.delete(take) }
  }

  /** Applies changes of logins. */
  #follow(): void {
    if (!hasLogins(this.#config)) return
    for (const [name, connection] of this.#connections) {
      if (this.#users.has(name)) void connection.follow()
      else this.#connections.delete(name)
    }
    const { isReady = false, account } = this.#listing ?? {}
    const usable = this.#usable()
    const isOver =
      account !== undefined &&
      account.principal !== NOBODY.principal &&
      !usable.some(({ id }) => id === this.#listing?.loginId)
    if (isReady ? isOver : idsOf(usable) !== this.#tried) this.#listAgain.abort()
  }

  /** The logins by which the tools can be listed, oldest first, so that the list does not change with each new one. */
  #usable(): KnownLogin[] {
    return this.#logins.vault
      .at(this.#account(NOBODY))
      .filter(({ isUsable }) => isUsable)
      .toSorted((one, other) => one.connectedAt - other.connectedAt)
  }

  /** The accounts by which the tools are tried to be listed; the last one needs no login. */
  #listingAccounts(usable: readonly KnownLogin[]): Account[] {
    const { auth } = this.#config
    if (auth.type === 'oauth') {
      return [...usable.slice(0, MAX_LISTING_LOGINS), this.#account(NOBODY)]
    }
    const { listAs: principal = NOBODY.principal } = auth
    return [this.#account({ ...NOBODY, principal })]
  }

  /** Publishes the tools as a connection lists them. Returns when another connection has to list them. */
  async #list(lease: Lease): Promise<void> {
    const { signal } = this.#context
    this.#listAgain = new AbortController()
    const over = AbortSignal.any([lease.lost, signal, this.#listAgain.signal])
    const usable = this.#usable()
    this.#tried = idsOf(usable)
    let isAway = false
    const accounts = this.#listingAccounts(usable)
    for (const [index, account] of accounts.entries()) {
      const logins = this.#logins.of(account)
      const onLoginLost = (): void => this.#listAgain.abort()
      await using listing = new ListingConnection(this.#context, { account, logins, onLoginLost })
      this.#listing = listing
      await listing.opened(over)
      if (over.aborted) return
      isAway ||= !listing.isReady && !listing.isLoginNeeded
      const isLast = index === accounts.length - 1
      // The tool `connect` is shown when no login can list the tools. Tools that were listed stay when the last user has
      // disconnected: a call of them tells the same.
      const isShown = listing.isLoginNeeded
        ? isLast && !isAway && !this.#wasListed
        : listing.isReady || isLast || !this.#wasListed
      if (isShown) listing.publish()
      if (!listing.isReady && !isLast) continue
      this.#wasListed ||= listing.isReady
      if (listing.isReady) {
        this.#failures = 0
        return await aborted(over)
      }
      const { first, max } = LIST_RETRY_MS
      this.#failures = isAway ? this.#failures + 1 : 0
      const awayMs = Math.min(first * 2 ** (this.#failures - 1), max)
      return await pause(isAway ? awayMs : LOGIN_RETRY_MS, over)
    }
  }
}

/** What a request of an MCP client says about the login that it wants. */
function choiceIn({ head, body }: IncomingRequest): { given?: unknown; account?: string } {
  // One that is too large for a message is not read for this.
  if (head.stored !== undefined) return {}
  const params: unknown = JSON.parse(new TextDecoder().decode(body))
  if (!isObject(params)) return {}
  const { _meta: meta, arguments: given } = params
  const { data } = RequestOptions.safeParse(isObject(meta) ? meta[OPTIONS_META_KEY] : undefined)
  return { given, ...(data?.account === undefined ? {} : { account: data.account }) }
}

function idsOf(logins: readonly KnownLogin[]): string {
  return logins.map(({ id }) => id).join(' ')
}
