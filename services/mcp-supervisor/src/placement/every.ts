import { aborted } from 'mcp-host/async'
import { SharedPolicy } from './shared-policy.ts'

/** Every supervisor runs the server. One that is not ready leaves the requests to the others. */
export class EveryPolicy extends SharedPolicy {
  protected async serve(): Promise<void> {
    const { context } = this
    const { signal } = context
    await context.dependenciesReady()
    let queue: Disposable | undefined
    const update = (): void => {
      const state = this.hosted?.snapshot?.state ?? 'starting'
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
