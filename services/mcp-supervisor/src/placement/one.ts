import type { Lease } from '@mcp-host/bus'
import { aborted } from '@mcp-host/async'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import { SharedPolicy } from './shared-policy.ts'

/** The policy by which one supervisor at a time, the holder of the lease, runs the server. */
export class OnePolicy extends SharedPolicy {
  protected async serve(): Promise<void> {
    const { context } = this
    const { signal } = context
    for (;;) {
      await using lease = await context.obtainLease({
        isLeftover: () => this.hosted !== undefined,
        onForeign: () => this.endHosted(),
      })
      if (this.hosted === undefined) await context.dependenciesReady(lease)
      if (!lease.isHeld) continue
      // The process and its state survive an outage of the broker.
      await this.#serveUnder(lease, this.hosted ?? this.begin())
      // This comes before the release of the lease, since no other supervisor may start the server before its end.
      if (signal.aborted) return await this.endHosted()
    }
  }

  async #serveUnder(lease: Lease, hosted: HostedServer): Promise<void> {
    const { signal } = this.context
    const over = AbortSignal.any([lease.lost, signal])
    // Requests wait in the queue while the server starts.
    await Promise.race([hosted.started(), aborted(over)])
    if (!over.aborted) {
      using _queue = hosted.serve(() => lease.isHeld)
      await aborted(over)
    }
    if (!signal.aborted) return
    hosted.abandon()
    await hosted.drained()
  }
}
