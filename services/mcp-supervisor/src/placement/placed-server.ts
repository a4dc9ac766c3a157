import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, ServerStats } from '@mcp-host/contracts'
import type { ServerConfig } from 'mcp-host'
import { CallStats } from '../catalog/call-stats.ts'
import { defaultPlacement } from '../catalog/to-entry.ts'
import type { SupervisorEvents } from '../events.ts'
import { EveryPolicy } from './every.ts'
import { OnePolicy } from './one.ts'
import { PerSessionPolicy } from './per-session.ts'
import type { PlacementDeps } from './placement-context.ts'
import { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** One configured server at this supervisor, by its placement policy, from its start until it is disposed. */
export class PlacedServer implements AsyncDisposable {
  readonly #context: PlacementContext
  readonly #policy: PlacementPolicy
  readonly #stats = new CallStats()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(deps: PlacementDeps, name: ServerName, config: ServerConfig) {
    const { signal } = this.#stop
    const counting = { ...deps, events: counted(deps.events, this.#stats) }
    this.#context = new PlacementContext(counting, name, config, signal)
    this.#policy = policyOf(this.#context)
    this.#ended = this.#policy.run().catch((err: unknown) => {
      // The only way out.
      if (signal.aborted) return
      const fields = { component: 'placement', action: 'run', server: name, err }
      deps.logger.error(fields, 'a server was given up')
    })
  }

  get name(): ServerName {
    return this.#context.name
  }

  get config(): ServerConfig {
    return this.#context.config
  }

  get stats(): ServerStats {
    return { ...this.#stats.snapshot(), ...this.#policy.stats() }
  }

  /** Takes up other instances of the same server while it runs; `false`: it has to start again. */
  adapt(config: ServerConfig): Promise<boolean> {
    return this.#policy.adapt(config)
  }

  /** Takes a call that another supervisor passed on. Throws `not-found` when the server has no sessions. */
  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    return this.#policy.runSessionTool(served)
  }

  /** Restarts its processes, as far as they are here. Throws `not-found` when there is none. */
  restart(): Promise<void> {
    return this.#policy.restart()
  }

  /** Takes no more calls, waits for those under way, stops, and only then lets others have it. */
  async drain(): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.#policy.end()
    await this.#ended
  }
}

function policyOf(context: PlacementContext): PlacementPolicy {
  const { scope, type, placement = defaultPlacement(type) } = context.config
  if (scope === 'session') return new PerSessionPolicy(context)
  return placement === 'every' ? new EveryPolicy(context) : new OnePolicy(context)
}

function counted(events: SupervisorEvents, stats: CallStats): SupervisorEvents {
  return {
    callStarted() {
      stats.started()
      events.callStarted()
    },
    callEnded(result) {
      stats.ended(result.outcome, result.durationMs)
      events.callEnded(result)
    },
    callCancelled: (...cancelled) => events.callCancelled(...cancelled),
  }
}
