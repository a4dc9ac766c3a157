import type { Lease } from '@mcp-host/bus'
import type { ServerStats } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { isLoginNeeded, type ServerSnapshot } from '@mcp-host/upstream'
import { aborted, pause } from '@mcp-host/async'
import { connectTool, HostedServer, loginNeeded, ServedRequests } from '@mcp-host/mcp-bus/serve'
import { type Account, DEFAULT_LABEL } from '../logins/account.ts'
import type { HostLogins } from '../logins/host-logins.ts'
import { type UserCaller, userKey } from './caller-keys.ts'
import { CallerUpstreams, type Use } from './caller-upstreams.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

const DEFAULT_IDLE_MS = 300_000
/** The period of attempts to list the tools of a server that is not ready. */
const REDISCOVER_MS = 30_000
/** The principal by whose lack of a login the tools are listed that need none. */
const NOBODY = ''

/**
 * The policy of a server at which users log in: every user has a connection, at each supervisor that gets a request. The
 * supervisor with the server's lease publishes its tools, which it lists by the login of any user.
 */
export class PerUserPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #logins: HostLogins
  readonly #users: CallerUpstreams<UserCaller>
  /** The ids of the logins with which the connections were opened, by principal. */
  readonly #opened = new Map<string, string | undefined>()
  #rediscover = new AbortController()
  /** The server that lists the tools. It may have ended. */
  #lister: HostedServer | undefined

  constructor(context: PlacementContext, logins: HostLogins) {
    this.#context = context
    this.#logins = logins
    const { deps, name, config } = context
    const { idleTimeoutMs = DEFAULT_IDLE_MS } = config
    this.#users = new CallerUpstreams<UserCaller>(
      { bus: deps.bus, peers: deps.peers, slots: deps.userSlots, idleTimeoutMs, warn: this.#warn },
      { server: name, key: userKey, start: ({ principal }) => this.#start(principal) },
    )
  }

  async run(): Promise<void> {
    const { deps, name, signal } = this.#context
    using _changes = this.#logins.vault.onChange(() => void this.#follow())
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
        while (lease.isHeld && !signal.aborted) await this.#discover(lease)
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
    this.#rediscover.abort()
  }

  async runSessionTool(): Promise<never> {
    const message = `the MCP server "${this.#context.name}" has no processes of sessions`
    throw new BusError('not-found', message)
  }

  /** Of the connection that lists the tools. */
  get output(): readonly string[] {
    return this.#lister?.output ?? []
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
    return { server: this.#context.name, principal, label: DEFAULT_LABEL }
  }

  async #locate(principal: string): Promise<Use> {
    const located = await this.#users.locate({ principal })
    if (!('peer' in located)) return located
    throw new Error('connections of users have no leases')
  }

  #start(principal: string): HostedServer {
    const { deps, name: server, config } = this.#context
    const { bus, audit, inputTimeoutMs } = deps
    const account = this.#account(principal)
    this.#opened.set(principal, this.#logins.vault.record(account)?.id)
    const requests = new ServedRequests({ bus, audit, server, inputTimeoutMs })
    const steps = [...deps.steps, loginNeeded(this.#logins.linkTo(server))]
    // The chats and clients of the user share the connection, so the server cannot ask any of them.
    const answers = { callback: requests.callback, kinds: ['log'] as const }
    const logins = this.#logins.of(account)
    return new HostedServer(
      { ...deps, steps },
      { name: server, config, answers: { ...answers, logins }, requests },
    )
  }

  /** Ends the connections whose login is another one or over, and lists the tools by a new one. */
  async #follow(): Promise<void> {
    const { vault } = this.#logins
    for (const [principal, id] of this.#opened) {
      if (!this.#users.has(principal)) this.#opened.delete(principal)
      else if (vault.record(this.#account(principal))?.id !== id) await this.#users.end(principal)
    }
    if (this.#lister?.snapshot.state !== 'ready' && this.#listing() !== undefined) {
      this.#rediscover.abort()
    }
  }

  /** The latest login at the server. */
  #listing(): Account | undefined {
    return this.#logins.vault
      .at(this.#context.name)
      .filter(({ sealed }) => sealed !== undefined)
      .toSorted((one, other) => other.connectedAt - one.connectedAt)[0]
  }

  /** Connects once to list the tools. Returns when they have to be listed again. */
  async #discover(lease: Lease): Promise<void> {
    const { deps, name, config, signal } = this.#context
    this.#rediscover = new AbortController()
    const over = AbortSignal.any([lease.lost, signal, this.#rediscover.signal])
    const logins = this.#logins.of(this.#listing() ?? this.#account(NOBODY))
    const callback = (): Promise<never> => Promise.reject(new Error('nobody is asked'))
    const answers = { callback, kinds: [], logins }
    const hosted = new HostedServer(deps, { name, config, answers })
    this.#lister = hosted
    try {
      await Promise.race([hosted.started(), aborted(over)])
      if (over.aborted) return
      const { snapshot } = hosted
      this.#context.publish(this.#published(snapshot))
      await hosted[Symbol.asyncDispose]()
      if (snapshot.state === 'ready') return await aborted(over)
      await pause(REDISCOVER_MS, over)
    } finally {
      await hosted[Symbol.asyncDispose]()
    }
  }

  /** Without resources, which are those of one user. A server that lists nothing without a login has a tool for it. */
  #published(snapshot: ServerSnapshot): ServerSnapshot {
    if (snapshot.state === 'ready') return { ...snapshot, resources: [] }
    const { error, ...rest } = snapshot
    if (!isLoginNeeded(error)) return snapshot
    return { ...rest, state: 'ready', tools: [connectTool(this.#context.name)] }
  }
}
