import type { PlacementContext } from './placement-context.ts'
import { UnavailablePolicy } from './unavailable.ts'

/** The policy of a server that does not run, since supervisors died with its calls. A restart ends the pause. */
export class PausedPolicy extends UnavailablePolicy {
  constructor(context: PlacementContext, until: number) {
    const error = `paused until ${new Date(until).toISOString()}: supervisors died with one of its calls; see the log of that time, and restart the server to end the pause`
    super(context, error)
  }

  override async restart(): Promise<void> {
    const { deps, name } = this.context
    await deps.pauses.end(name)
  }
}
