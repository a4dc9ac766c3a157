import type { Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerStats, SessionId } from '@mcp-host/contracts'
import type { ServerRequestCallback } from '@mcp-host/upstream'
import { aborted, pause } from '@mcp-host/async'
import { ClientLists, HostedServer, ServedRequests, toEntry } from '@mcp-host/mcp-bus/serve'
import type { UpstreamClient } from './caller-keys.ts'
import { ClientRequests } from './client-requests.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'
import { SessionCalls } from './session-calls.ts'

const DEFAULT_IDLE_MS = 300_000
/** The period of attempts to list the tools of a server that is not ready. */
const REDISCOVER_MS = 30_000
/** The capabilities of clients that answer requests of servers. */
const ANSWERABLE = ['sampling', 'elicitation', 'roots'] as const

/**
 * The policy by which every session and every MCP client has a dedicated process, at any supervisor. The supervisor
 * with the server's lease publishes its tools.
 */
export class PerSessionPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #sessions: SessionCalls
  readonly #clients: ClientRequests
  #rediscover = new AbortController()
  /** The server that lists the tools. It may have ended. */
  #lister: HostedServer | undefined

  constructor(context: PlacementContext) {
    this.#context = context
    const { deps, name, config } = context
    const { bus, peers, slots } = deps
    const { idleTimeoutMs = DEFAULT_IDLE_MS } = config
    const shared = { bus, peers, slots, idleTimeoutMs, warn: this.#warn }
    const startSession = (session: SessionId): HostedServer => this.#startSession(session)
    const startClient = (client: UpstreamClient, onLeave: () => void): HostedServer =>
      this.#startClient(client, onLeave)
    this.#sessions = new SessionCalls({ ...shared, start: startSession }, name)
    this.#clients = new ClientRequests({ ...shared, start: startClient }, name)
  }

  async run(): Promise<void> {
    const { deps, name, signal } = this.#context
    const queue = deps.subjects.queue(name, {
      runTool: (served) => this.#sessions.run(served),
      serveRequest: (request, send) => this.#clients.serveRequest(request, send),
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
      await this.#close({ isGraceful: true })
      this.#context.unpublish()
    }
  }

  async adapt(): Promise<boolean> {
    return false
  }

  async restart(): Promise<void> {
    await Promise.all([this.#sessions.upstreams.restart(), this.#clients.upstreams.restart()])
    this.#rediscover.abort()
  }

  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    return this.#sessions.runSessionTool(served)
  }

  /** Of the process that lists the tools: those of sessions and clients may write about their users. */
  get output(): readonly string[] {
    return this.#lister?.output ?? []
  }

  stats(): Partial<ServerStats> {
    return { sessions: this.#sessions.upstreams.size + this.#clients.upstreams.size }
  }

  end(): Promise<void> {
    return this.#close({ isGraceful: false })
  }

  async #close(options: { isGraceful: boolean }): Promise<void> {
    await Promise.all([
      this.#sessions.upstreams.close(options),
      this.#clients.upstreams.close(options),
    ])
  }

  readonly #warn = (err: unknown): void => {
    const { deps, name } = this.#context
    const fields = { component: 'placement', action: 'session', server: name, err }
    deps.logger.warn(fields, 'a dedicated process failed')
  }

  #startSession(session: SessionId): HostedServer {
    const { deps, name, config } = this.#context
    const callback = deps.callbackOf(session)
    const kinds = ['sampling', 'elicitation'] as const
    const answers = { callback, kinds, sessionId: session }
    return new HostedServer(deps, { name, config, answers })
  }

  #startClient(client: UpstreamClient, onLeave: () => void): HostedServer {
    const { deps, name: server, config } = this.#context
    const { bus, subjects, audit, inputTimeoutMs } = deps
    const { name, capabilities, hasSession } = client
    const own = { process: name, hasSession, capabilities }
    const requests = new ServedRequests({ bus, audit, server, inputTimeoutMs, ...own })
    const answerable = ANSWERABLE.filter((each) => Object.hasOwn(capabilities, each))
    const kinds = [...answerable, 'log'] as const
    const answers = { callback: requests.callback, kinds, capabilities, sessionId: name }
    const clientLists = hasSession
      ? new ClientLists(
          { bus, subjects, warn: this.#warn },
          { server, client: name, toEntry: (snapshot) => toEntry(bus.id, config, snapshot) },
        )
      : undefined
    const options = { name: server, config, answers, requests }
    return new HostedServer(deps, { ...options, client: name, clientLists, onLeave })
  }

  /** Starts the server once to list its tools. Returns when they have to be listed again. */
  async #discover(lease: Lease): Promise<void> {
    const { deps, name, config, signal } = this.#context
    this.#rediscover = new AbortController()
    const over = AbortSignal.any([lease.lost, signal, this.#rediscover.signal])
    const hosted = new HostedServer(deps, {
      name,
      config,
      // Some servers list more tools to clients that answer requests.
      answers: { callback: refuse, kinds: ['sampling', 'elicitation'] },
      onChange: (snapshot) => {
        if (snapshot.state === 'starting') this.#context.publish(snapshot)
      },
    })
    this.#lister = hosted
    try {
      await Promise.race([hosted.started(), aborted(over)])
      const { snapshot } = hosted
      if (over.aborted) return
      const { pid: _, ...lasting } = snapshot
      this.#context.publish(lasting)
      await hosted[Symbol.asyncDispose]()
      if (snapshot.state === 'ready') return await aborted(over)
      await pause(REDISCOVER_MS, over)
    } finally {
      await hosted[Symbol.asyncDispose]()
    }
  }
}

const refuse: ServerRequestCallback = () => {
  throw new Error('no client can answer while the tools are listed')
}
