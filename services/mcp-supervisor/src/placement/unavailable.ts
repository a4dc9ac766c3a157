import { BusError } from '@mcp-host/contracts'
import { aborted } from '@mcp-host/async'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** The policy of a server that does not run, with the reason in words for a user. */
export class UnavailablePolicy implements PlacementPolicy {
  protected readonly context: PlacementContext
  readonly #error: string

  constructor(context: PlacementContext, error: string) {
    this.context = context
    this.#error = error
  }

  async run(): Promise<void> {
    const { signal } = this.context
    this.context.publishUnavailable(this.#error)
    await aborted(signal)
    this.context.unpublish()
  }

  async adapt(): Promise<boolean> {
    return false
  }

  async restart(): Promise<void> {
    throw new BusError('unavailable', this.#error)
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
