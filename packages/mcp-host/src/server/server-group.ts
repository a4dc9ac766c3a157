import { resolvesWithin } from '@mcp-host/async'
import { diffConfig, type ReloadReport } from '@mcp-host/mcp-json'
import type { McpConfig } from '@mcp-host/mcp-json'
import type { ServerConfig, Upstream } from '@mcp-host/upstream'
import { ServerStartupError } from '@mcp-host/upstream'
import type { ServerCache } from '../cache/server-cache.ts'

/**
 * The effect of a failed start: `all-or-nothing` stops all servers and throws, `best-effort` goes on without the
 * server.
 */
export type StartPolicy = 'all-or-nothing' | 'best-effort'

/** A server of the configuration. */
export interface GroupMember {
  readonly upstream: Upstream
  readonly cache: ServerCache
}

export interface ServerGroupDeps {
  readonly create: (name: string, config: ServerConfig) => GroupMember
  /** Called when a server has become a member of the group, or was adapted. */
  readonly onPlaced: (member: GroupMember) => void
}

export interface ServerGroupOptions {
  /** The time limit for the start of all servers together, in milliseconds. */
  readonly startLimitMs: number
}

/** All servers of one configuration, started and stopped in the order of their dependencies. */
export class ServerGroup {
  readonly #deps: ServerGroupDeps
  readonly #options: ServerGroupOptions
  #members = new Map<string, GroupMember>()
  #config: McpConfig = { servers: {} }
  /** Servers whose successors are starting. */
  readonly #replaced = new Set<string>()
  /** Replaced and removed servers whose calls have not ended. */
  readonly #retiring = new Set<GroupMember>()
  readonly #stopping = new AbortController()
  #reloading: Promise<unknown> | undefined

  constructor(deps: ServerGroupDeps, options: ServerGroupOptions) {
    this.#deps = deps
    this.#options = options
  }

  get(name: string): GroupMember | undefined {
    return this.#members.get(name)
  }

  /** The dependencies of a server that are not ready. */
  missing({ dependencies = [] }: ServerConfig): readonly string[] {
    return dependencies.filter((name) => this.#members.get(name)?.upstream.state !== 'ready')
  }

  /** Starts the servers that only `name` kept from starting. */
  wakeDependents(name: string): void {
    for (const { upstream } of this.#members.values()) {
      const { config } = upstream
      if (config.dependencies?.includes(name) !== true || this.missing(config).length > 0) continue
      if (!this.#replaced.has(upstream.name)) upstream.wake()
    }
  }

  /** The members in the order of the configuration. */
  get members(): readonly GroupMember[] {
    return [...this.#members.values()]
  }

  /** Also those that were replaced or removed, while their calls go on. */
  get all(): readonly GroupMember[] {
    return [...this.#members.values(), ...this.#retiring]
  }

  /** Starts all servers at once, each after its dependencies. Throws the first error. */
  async start(config: McpConfig, policy: StartPolicy): Promise<void> {
    this.#config = config
    for (const [name, server] of Object.entries(config.servers)) {
      const member = this.#deps.create(name, server)
      this.#members.set(name, member)
      this.#deps.onPlaced(member)
    }
    const starts = this.#startInOrder(this.#members)
    // Under `best-effort` a failure is logged by its server and stays visible in its state.
    const isBestEffort = policy === 'best-effort'
    const started = isBestEffort ? Promise.allSettled(starts) : Promise.all(starts)
    if ((await this.#isInTime(started, starts)) || isBestEffort) return
    const missing = this.members.filter(({ upstream }) => upstream.state !== 'ready')
    const names = missing.map(({ upstream }) => upstream.name)
    const limit = `${this.#options.startLimitMs} ms`
    const message = `not all servers were ready within ${limit}: "${names.join('", "')}"`
    throw new ServerStartupError(message, { server: names[0] })
  }

  /**
   * Whether all servers have started within the limit. The limit starts again when a server has fetched its program.
   */
  async #isInTime(started: Promise<unknown>, starts: readonly Promise<void>[]): Promise<boolean> {
    while (!(await resolvesWithin(started, this.#options.startLimitMs))) {
      const { members } = this
      const fetching = starts.filter((_, index) => {
        return members[index]?.upstream.snapshot().phase === 'installing'
      })
      if (fetching.length === 0) return false
      await Promise.race([started, Promise.allSettled(fetching)])
    }
    return true
  }

  /**
   * Applies a configuration. Unchanged servers are not touched. A successor replaces its server once it has started or
   * failed; calls in flight are completed.
   */
  reload(config: McpConfig): Promise<ReloadReport> {
    // Reloads run one after the other.
    const before = this.#reloading ?? Promise.resolve()
    const reloaded = before.then(() => this.#reload(config))
    const settled = reloaded
      .catch(() => undefined)
      .finally(() => {
        if (this.#reloading === settled) this.#reloading = undefined
      })
    this.#reloading = settled
    return reloaded
  }

  /** Stops all servers, each after its dependents. Never throws. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.#reloading !== undefined) await this.#reloading
    const stops = new Map<string, Promise<void>>()
    const stop = (name: string): Promise<void> => {
      const known = stops.get(name)
      if (known !== undefined) return known
      const upstream = this.#members.get(name)?.upstream
      const dependents = Object.entries(this.#config.servers)
        .filter(([, { dependencies = [] }]) => dependencies.includes(name))
        .map(([dependent]) => stop(dependent))
      const stopNow = async (): Promise<void> => upstream?.stop()
      const stopped = dependents.length === 0 ? stopNow() : Promise.all(dependents).then(stopNow)
      stops.set(name, stopped)
      return stopped
    }
    const retiring = Array.from(this.#retiring, ({ upstream }) => upstream.stop())
    await Promise.all([...[...this.#members.keys()].map(stop), ...retiring])
  }

  async #reload(config: McpConfig): Promise<ReloadReport> {
    if (this.#stopping.signal.aborted) throw new Error('the host is shut down')
    const report = diffConfig(this.#config, config)
    const fresh = new Map<string, GroupMember>()
    const members = new Map<string, GroupMember>()
    const adapted: GroupMember[] = []
    for (const [name, server] of Object.entries(config.servers)) {
      const former = this.#members.get(name)
      const isChanged = !report.unchanged.includes(name)
      if (isChanged && former?.upstream.adapt(server) === true) adapted.push(former)
      else if (isChanged) fresh.set(name, this.#deps.create(name, server))
      const member = former ?? fresh.get(name)
      if (member !== undefined) members.set(name, member)
    }
    const removed = report.removed.flatMap((name) => this.#members.get(name) ?? [])
    this.#members = members
    this.#config = config
    for (const name of report.changed) if (fresh.has(name)) this.#replaced.add(name)
    for (const member of adapted) this.#deps.onPlaced(member)
    for (const name of report.added) {
      const member = members.get(name)
      if (member !== undefined) this.#deps.onPlaced(member)
    }
    for (const member of removed) this.#retire(member)
    const { signal } = this.#stopping
    const interrupt = (): void => {
      for (const { upstream } of fresh.values()) void upstream.stop()
    }
    signal.addEventListener('abort', interrupt)
    const starts = this.#startInOrder(fresh)
    await Promise.all(
      [...fresh].map(async ([name, member], index) => {
        // A failure is in the server's state and the log.
        await starts[index]?.catch(() => undefined)
        const before = members.get(name)
        if (before === undefined || before === member) return
        members.set(name, member)
        this.#replaced.delete(name)
        this.#deps.onPlaced(member)
        this.#retire(before)
      }),
    )
    signal.removeEventListener('abort', interrupt)
    return report
  }

  #retire(member: GroupMember): void {
    this.#retiring.add(member)
    void member.upstream.retire().finally(() => this.#retiring.delete(member))
  }

  /** Starts these members, each after its dependencies among them. */
  #startInOrder(members: ReadonlyMap<string, GroupMember>): readonly Promise<void>[] {
    const starts = new Map<string, Promise<void>>()
    const start = (name: string): Promise<void> => {
      const known = starts.get(name)
      if (known !== undefined) return known
      const member = members.get(name)
      // Other servers are running already.
      if (member === undefined) return Promise.resolve()
      const { dependencies = [] } = member.upstream.config
      const started = member.upstream.start(Promise.allSettled(dependencies.map(start)))
      starts.set(name, started)
      return started
    }
    return [...members.keys()].map(start)
  }
}
