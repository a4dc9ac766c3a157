import { BusError } from '@mcp-host/contracts'
import { aborted } from '@mcp-host/async'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** The policy of a server that does not run, since supervisors died with its calls. A restart ends the pause. */
export class PausedPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #error: string

  constructor(context: PlacementContext, until: number) {
    this.#context = context
    this.#error = `paused until ${new Date(until).toISOString()}: supervisors died with one of its calls; see the log of that time, and restart the server to end the pause`
  }

  async run(): Promise<void> {
    const { signal } = this.#context
    this.#context.publishUnavailable(this.#error)
    await aborted(signal)
    this.#context.unpublish()
  }

  async adapt(): Promise<boolean> {
    return false
  }

  async restart(): Promise<void> {
    const { deps, name } = this.#context
    await deps.pauses.end(name)
  }

  async runSessionTool(): Promise<never> {
    throw new BusError('unavailable', this.#error)
  }

  get output(): readonly string[] {
    return []
  }

  stats(): object {
    return {}
  }

  async end(): Promise<void> {
    // No process runs.
  }
}
