import { isDeepStrictEqual } from 'node:util'

import { instancesOf } from '../config/instances-of.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { ListName } from '../inventory/inventory.ts'
import { Balancer } from '../policies/balancer.ts'
import type { LiveServer } from '../server/live-server.ts'
import type { Adaptation, MemberServer } from '../server/managed-server.ts'
import type { InstanceSnapshot, ServerHealth, ServerSnapshot } from '../server/server-snapshot.ts'
import type { ServerState } from '../server/server-state.ts'
import type { PoolInstance, PoolInstanceOptions } from './pool-instance.ts'

/** The best state of an instance is that of the server. */
const BEST_FIRST: readonly ServerState[] = [
  'ready',
  'starting',
  'unavailable',
  'stopping',
  'shutdown',
]

export interface ServerPoolDeps {
  /** `number`: of the instance, from 1 on; never given again. */
  readonly create: (options: PoolInstanceOptions, number: number) => PoolInstance
}

/** The instances of one server, which are one server to everybody else. */
export class ServerPool implements MemberServer {
  readonly name: string
  readonly #deps: ServerPoolDeps
  #config: ServerConfig
  #instances: readonly [PoolInstance, ...PoolInstance[]]
  #balancer: Balancer<PoolInstance>
  #created = 0

  constructor(deps: ServerPoolDeps, name: string, config: ServerConfig) {
    this.name = name
    this.#deps = deps
    this.#config = config
    this.#balancer = new Balancer(config.balance ?? 'round-robin')
    const [first, ...others] = instancesOf(config) ?? []
    if (first === undefined) throw new Error(`the server "${name}" has no instances`)
    this.#instances = [this.#create(first), ...others.map((each) => this.#create(each))]
  }

  get config(): ServerConfig {
    return this.#config
  }

  get instances(): readonly PoolInstance[] {
    return this.#instances
  }

  /** The first of the best: its lists are those of the server. */
  get speaker(): PoolInstance {
    const [first, ...others] = this.#instances
    const rank = ({ server }: PoolInstance): number => BEST_FIRST.indexOf(server.state)
    return others.reduce((best, each) => (rank(each) < rank(best) ? each : best), first)
  }

  get state(): ServerState {
    return this.speaker.server.state
  }

  get lastLive(): LiveServer | undefined {
    const known = this.#instances.find(({ server }) => server.lastLive !== undefined)
    return this.speaker.server.lastLive ?? known?.server.lastLive
  }

  snapshot(): ServerSnapshot {
    const { pid: _, health: _health, ...shown } = this.speaker.server.snapshot()
    const healths: ServerHealth[] = []
    const instances = this.#instances.map(({ server, weight }): InstanceSnapshot => {
      const { state, restarts, error, pid, health } = server.snapshot()
      if (health !== undefined) healths.push(health)
      return {
        state,
        restarts,
        weight,
        ...(error === undefined ? {} : { error }),
        ...(pid === undefined ? {} : { pid }),
      }
    })
    const restarts = instances.reduce((sum, each) => sum + each.restarts, 0)
    if (healths.length === 0) return { ...shown, restarts, instances }
    const health = {
      score: healths.reduce((sum, { score }) => sum + score, 0) / instances.length,
      checkedAt: Math.max(...healths.map(({ checkedAt }) => checkedAt)),
    }
    return { ...shown, restarts, instances, health }
  }

  /** Resolves with the first that is ready; the others follow. Throws what the first throws when all fail. */
  async start(dependencies?: Promise<unknown>): Promise<void> {
    const starts = this.#instances.map(({ server }) => server.start(dependencies))
    try {
      await Promise.any(starts)
    } catch {
      // Said of one they are said of all.
      await starts[0]
    }
  }

  /** One after the other, so that some are there all the time. Throws the first failure, at the end. */
  async restart(): Promise<void> {
    const failures: unknown[] = []
    for (const { server } of this.#instances) {
      await server.restart().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map(({ server }) => server.stop()))
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

  /** While none is ready: the one to wait for. */
  get next(): PoolInstance {
    const coming = this.#instances.find(({ server }) => server.isComing)
    return coming ?? this.#instances[0]
  }

  /** One has said that a list has changed: the others mostly have changed as well. */
  relist(list: ListName, but: PoolInstance): void {
    for (const each of this.#instances) {
      if (each !== but && each.isReady) void each.server.live().inventory.changed(list)
    }
  }

  /** See `Member.adapt`. */
  adapt(config: ServerConfig): Adaptation | undefined {
    const left = new Set(this.#instances)
    const next = (instancesOf(config) ?? []).map((options) => {
      const same = [...left].find((each) => isDeepStrictEqual(each.config, options.config))
      if (same !== undefined) left.delete(same)
      return { options, same }
    })
    // A successor starts first where no instance would be ready otherwise.
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
    this.#instances = [first, ...others]
    this.#config = config
    this.#balancer = new Balancer(config.balance ?? 'round-robin')
    return { added, removed: [...left] }
  }

  #readyBut(tried: ReadonlySet<PoolInstance>): readonly PoolInstance[] {
    return this.#instances.filter((each) => each.isReady && !tried.has(each))
  }

  #create(options: PoolInstanceOptions): PoolInstance {
    this.#created += 1
    return this.#deps.create(options, this.#created)
  }
}
