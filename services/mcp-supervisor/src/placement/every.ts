import { aborted } from '@mcp-host/async'
import { SharedPolicy } from './shared-policy.ts'

/**
 * The policy by which every supervisor runs the server. A supervisor whose instance is not ready takes no requests
 * while that of another supervisor is ready.
 */
export class EveryPolicy extends SharedPolicy {
  protected async serve(): Promise<void> {
    const { context } = this
    const { signal } = context
    await context.dependenciesReady()
    let queue: Disposable | undefined
    const update = (): void => {
      const state = this.hosted?.snapshot.state ?? 'starting'
      const isWanted =
        !signal.aborted &&
        (state === 'ready' || (state !== 'starting' && !context.isReadyElsewhere()))
      if (isWanted) queue ??= this.hosted?.serve(() => true)
      else {
        queue?.[Symbol.dispose]()
        queue = undefined
      }
    }
    using _view = context.deps.catalog.onChange(update)
    const hosted = this.begin(update)
    await aborted(signal)
    update()
    await hosted.drained()
  }
}
