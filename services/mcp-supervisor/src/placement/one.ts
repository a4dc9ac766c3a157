import type { Lease } from '@mcp-host/bus'
import type { HostedServer } from '../hosting/hosted-server.ts'
import { aborted } from 'mcp-host/async'
import { SharedPolicy } from './shared-policy.ts'

/** One supervisor at a time runs the server: the one that has its lease. */
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
      // After an outage of the broker the process is still there, and its state with it.
      await this.#serveUnder(lease, this.hosted ?? this.begin())
      // Before the lease goes: no other may start it until then.
      if (signal.aborted) return await this.endHosted()
    }
  }

  async #serveUnder(lease: Lease, hosted: HostedServer): Promise<void> {
    const { signal } = this.context
    const over = AbortSignal.any([lease.lost, signal])
    // While it starts, requests wait in the queue.
    await Promise.race([hosted.started(), aborted(over)])
    if (!over.aborted) {
      using _queue = hosted.serve(() => lease.isHeld)
      await aborted(over)
    }
    if (signal.aborted) await hosted.drained()
  }
}
