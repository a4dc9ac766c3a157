import { isDeepStrictEqual } from 'node:util'

import type { WeightedConfig } from '../endpoints/endpoint-kind.ts'
import { instancesOf } from './instances-of.ts'
import type { ServerConfig } from '../endpoints/index.ts'
import type { ListName } from '../inventory/inventory.ts'
import { Balancer, type Candidate } from '../policies/balancer.ts'
import type { HealthScore } from '../policies/health-score.ts'
import type { Connection } from '../instance/connection.ts'
import type { Adaptation, Lifecycle, RunningInstance } from '../instance/instance-set.ts'
import type { InstanceClient } from '../instance/instance-client.ts'
import type { InstanceSnapshot, ServerHealth, ServerSnapshot } from '../instance/server-snapshot.ts'
import type { ServerState } from '../instance/server-state.ts'
import type { Instance } from '../instance/instance.ts'

/** States by rank. The best state of an instance is the state of the server. */
const BEST_FIRST: readonly ServerState[] = [
  'ready',
  'starting',
  'unavailable',
  'stopping',
  'shutdown',
]

/** An instance of a server, with its own connection, restarts, queue and circuit breakers. */
export class PoolInstance implements RunningInstance, Candidate {
  readonly server: Instance
  readonly client: InstanceClient
  readonly config: ServerConfig
  weight: number

  constructor(
    { server, client }: RunningInstance,
    { config, weight }: WeightedConfig<ServerConfig>,
  ) {
    this.server = server
    this.client = client
    this.config = config
    this.weight = weight
  }

  get health(): HealthScore {
    return this.server.health
  }

  get inFlight(): number {
    return this.client.inFlight
  }

  get isReady(): boolean {
    return this.server.state === 'ready'
  }
}

/** Creates an instance; its number counts from 1 and is not reused. */
type CreateInstance = (config: ServerConfig, number: number) => RunningInstance

/** The instances of one server, presented as one server. */
export class ServerPool implements Lifecycle {
  readonly name: string
  config: ServerConfig
  instances: readonly [PoolInstance, ...PoolInstance[]]
  readonly #createInstance: CreateInstance
  #balancer: Balancer<PoolInstance>
  #created = 0

  constructor(createInstance: CreateInstance, name: string, config: ServerConfig) {
    this.name = name
    this.#createInstance = createInstance
    this.config = config
    this.#balancer = new Balancer(config.balance ?? 'round-robin')
    const [first, ...others] = instancesOf(config) ?? []
    if (first === undefined) throw new Error(`the server "${name}" has no instances`)
    this.instances = [this.#create(first), ...others.map((each) => this.#create(each))]
  }

  /** The first instance with the best state, whose lists are those of the server. */
  get best(): PoolInstance {
    const [first, ...others] = this.instances
    const rank = ({ server }: PoolInstance): number => BEST_FIRST.indexOf(server.state)
    return others.reduce((best, each) => (rank(each) < rank(best) ? each : best), first)
  }

  get state(): ServerState {
    return this.best.server.state
  }

  get lastLive(): Connection | undefined {
    const known = this.instances.find(({ server }) => server.lastLive !== undefined)
    return this.best.server.lastLive ?? known?.server.lastLive
  }

  snapshot(): ServerSnapshot {
    const { pid: _, health: _health, ...shown } = this.best.server.snapshot()
    const healths: ServerHealth[] = []
    const instances = this.instances.map(({ server, weight }): InstanceSnapshot => {
      const { state, restarts, error, pid, health } = server.snapshot()
      if (health !== undefined) healths.push(health)
      return { state, restarts, weight, ...(error && { error }), ...(pid && { pid }) }
    })
    const restarts = instances.reduce((sum, each) => sum + each.restarts, 0)
    if (healths.length === 0) return { ...shown, restarts, instances }
    const health = {
      score: healths.reduce((sum, { score }) => sum + score, 0) / instances.length,
      checkedAt: Math.max(...healths.map(({ checkedAt }) => checkedAt)),
    }
    return { ...shown, restarts, instances, health }
  }

  /** Resolves once the first instance is ready. Throws the error of the first instance when all fail. */
  async start(dependencies?: Promise<unknown>): Promise<void> {
    const starts = this.instances.map(({ server }) => server.start(dependencies))
    try {
      await Promise.any(starts)
    } catch {
      // The error of one instance is better than an `AggregateError`.
      await starts[0]
    }
  }

  /** Restarts the instances one after the other, so that others stay available. Throws the first failure at the end. */
  async restart(): Promise<void> {
    const failures: unknown[] = []
    for (const { server } of this.instances) {
      await server.restart().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  async stop(): Promise<void> {
    await Promise.all(this.instances.map(({ server }) => server.stop()))
  }

  /** The instance for a request; `undefined` when no untried one is ready. */
  pick(tool: string | undefined, tried: ReadonlySet<PoolInstance>): PoolInstance | undefined {
    const ready = this.#readyBut(tried)
    const open = ready.filter(({ client }) => client.isOpenTo(tool))
    return this.#balancer.pick(open.length > 0 ? open : ready)
  }

  hasOther(tried: ReadonlySet<PoolInstance>): boolean {
    return this.#readyBut(tried).length > 0
  }

  /** The instance to wait for while none is ready. */
  get next(): PoolInstance {
    const coming = this.instances.find(({ server }) => server.isComing)
    return coming ?? this.instances[0]
  }

  /** Reads a list of the other instances again after one instance announced a change. */
  relist(list: ListName, announcer: Instance): void {
    for (const { server, isReady } of this.instances) {
      if (server !== announcer && isReady) void server.live().inventory.changed(list)
    }
  }

  /** See `InstanceSet.adapt`. */
  adapt(config: ServerConfig): Adaptation | undefined {
    const left = new Set(this.instances)
    const next = (instancesOf(config) ?? []).map((options) => {
      const same = [...left].find((each) => isDeepStrictEqual(each.config, options.config))
      if (same !== undefined) left.delete(same)
      return { options, same }
    })
    // Without a ready instance the whole server is replaced, and stays until its successor has started.
    if (next.every(({ same }) => same?.isReady !== true)) return undefined
    const added: PoolInstance[] = []
    const [first, ...others] = next.map(({ options, same }) => {
      if (same !== undefined) {
        same.weight = options.weight
        return same
      }
      const fresh = this.#create(options)
      added.push(fresh)
      return fresh
    })
    if (first === undefined) return undefined
    this.instances = [first, ...others]
    this.config = config
    this.#balancer = new Balancer(config.balance ?? 'round-robin')
    return { added, removed: [...left] }
  }

  #readyBut(tried: ReadonlySet<PoolInstance>): readonly PoolInstance[] {
    return this.instances.filter((each) => each.isReady && !tried.has(each))
  }

  #create(options: WeightedConfig<ServerConfig>): PoolInstance {
    this.#created += 1
    return new PoolInstance(this.#createInstance(options.config, this.#created), options)
  }
}
