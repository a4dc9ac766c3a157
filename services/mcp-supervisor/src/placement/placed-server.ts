import type { ServerName, ServerStats } from '@mcp-host/contracts'
import type { ServerConfig } from '@mcp-host/upstream'
import {
  CallStats,
  defaultPlacement,
  isPerUser,
  rememberCall,
  type SupervisorEvents,
} from '@mcp-host/mcp-bus/serve'
import { EveryPolicy } from './every.ts'
import { OnePolicy } from './one.ts'
import { PausedPolicy } from './paused.ts'
import { PerSessionPolicy } from './per-session.ts'
import { PerUserPolicy } from './per-user.ts'
import type { PlacementDeps } from './placement-context.ts'
import { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'
import { UnavailablePolicy } from './unavailable.ts'

const NO_LOGINS =
  'logins and token exchange at servers are off: set TOKEN_ENC_KEY, and PUBLIC_URL to the address of its gateways'

/** One configured server at this supervisor with its placement policy, from its start until it is disposed. */
export class PlacedServer implements AsyncDisposable {
  readonly context: PlacementContext
  readonly policy: PlacementPolicy
  readonly #stats = new CallStats()
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(deps: PlacementDeps, name: ServerName, config: ServerConfig) {
    const { signal } = this.#stop
    // Code of this process works for the call.
    const steps = config.type === 'built-in' ? [...deps.steps, rememberCall] : deps.steps
    const counting = { ...deps, steps, events: counted(deps.events, this.#stats) }
    this.context = new PlacementContext(counting, name, config, signal)
    this.policy = policyOf(this.context)
    this.#ended = this.policy.run().catch((err: unknown) => {
      // A policy ends with the signal's reason.
      if (signal.aborted) return
      const fields = { component: 'placement', action: 'run', server: name, err }
      deps.logger.error(fields, 'a server was given up')
    })
  }

  get stats(): ServerStats {
    return { ...this.#stats.snapshot(), ...this.policy.stats() }
  }

  /** Takes no further calls, completes those in flight, stops the server, and then lets other supervisors run it. */
  async drain(): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.policy.end()
    await this.#ended
  }
}

function policyOf(context: PlacementContext): PlacementPolicy {
  const pausedUntil = context.deps.pauses.until(context.name)
  if (pausedUntil !== undefined) return new PausedPolicy(context, pausedUntil)
  const { config, deps } = context
  const { type, placement = defaultPlacement(type) } = config
  if (isPerUser(config)) {
    return deps.logins === undefined
      ? new UnavailablePolicy(context, NO_LOGINS)
      : new PerUserPolicy(context, config, deps.logins)
  }
  if (config.scope === 'session') return new PerSessionPolicy(context)
  return placement === 'every' ? new EveryPolicy(context) : new OnePolicy(context)
}

/** Events that are also counted in the statistics of the server. */
function counted(events: SupervisorEvents, stats: CallStats): SupervisorEvents {
  return {
    ...events,
    callStarted() {
      stats.started()
      events.callStarted()
    },
    callEnded(result) {
      stats.ended(result.outcome, result.durationMs)
      events.callEnded(result)
    },
  }
}
