import type { Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerStats } from '@mcp-host/contracts'
import type { ServerRequestCallback } from 'mcp-host'
import { HostedServer } from '../hosting/hosted-server.ts'
import { aborted, sleep } from 'mcp-host/async'
import { DedicatedProcessPool } from './dedicated-process-pool.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** When tools could not be discovered. */
const DISCOVER_AGAIN_MS = 30_000

/**
 * Every session, and every MCP client, has a process of its own, at any supervisor. The one with the server's
 * lease publishes its tools.
 */
export class PerSessionPolicy implements PlacementPolicy {
  readonly #context: PlacementContext
  readonly #pool: DedicatedProcessPool
  #rediscover = new AbortController()

  constructor(context: PlacementContext) {
    this.#context = context
    this.#pool = new DedicatedProcessPool(context.deps, context.name, context.config)
  }

  async run(): Promise<void> {
    const { signal } = this.#context
    const queue = this.#pool.serve()
    try {
      for (;;) {
        await using lease = await this.#context.obtainLease({
          isLeftover: () => false,
          onForeign: async () => this.#context.unpublish(),
        })
        await this.#context.dependenciesReady(lease)
        while (lease.isHeld && !signal.aborted) await this.#discover(lease)
      }
    } finally {
      queue[Symbol.dispose]()
      await this.#pool.close({ isGraceful: true })
      this.#context.unpublish()
    }
  }

  async adapt(): Promise<boolean> {
    return false
  }

  async restart(): Promise<void> {
    await this.#pool.restart()
    this.#rediscover.abort()
  }

  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    return this.#pool.runSessionTool(served)
  }

  stats(): Partial<ServerStats> {
    return { sessions: this.#pool.size }
  }

  async end(): Promise<void> {
    await this.#pool.close({ isGraceful: false })
  }

  /** Starts it once to learn its tools; returns when it is time to do so again. */
  async #discover(lease: Lease): Promise<void> {
    const { deps, name, config, signal } = this.#context
    this.#rediscover = new AbortController()
    const over = AbortSignal.any([lease.lost, signal, this.#rediscover.signal])
    // Some servers list other tools to clients that answer their requests.
    const host = deps.makeHost({ callback: refuse, kinds: ['sampling', 'elicitation'] })
    const hosted = new HostedServer(deps, host, {
      name,
      config,
      onChange: (snapshot) => {
        if (snapshot.state === 'starting') this.#context.publish(snapshot)
      },
    })
    try {
      await Promise.race([hosted.started(), aborted(over)])
      const found = hosted.snapshot
      if (found === undefined || over.aborted) return
      const { pid: _, ...lasting } = found
      this.#context.publish(lasting)
      await hosted[Symbol.asyncDispose]()
      if (found.state === 'ready') return await aborted(over)
      await sleep(DISCOVER_AGAIN_MS, over).catch(() => undefined)
    } finally {
      await hosted[Symbol.asyncDispose]()
    }
  }
}

const refuse: ServerRequestCallback = () => {
  throw new Error('nobody is asked while the tools are listed')
}
