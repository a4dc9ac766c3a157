import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { isSafeToRepeat } from '../inventory/tool.ts'
import type { Logger } from '@mcp-host/process'
import type { RequestOptions } from '../requests/options.ts'
import { logRecovery, mayRetry, retryPolicy } from '../requests/resend.ts'
import type { RequestSender } from '../instance/instance-set.ts'
import type { InstanceClient } from '../instance/instance-client.ts'
import type { PoolInstance, ServerPool } from './server-pool.ts'

export interface PoolClientDeps {
  readonly pool: ServerPool
  readonly logger: Logger
  /** Called with the index of the instance that gets a request. */
  readonly onPicked: (position: number) => void
}

/** The client of a server with instances: each request goes to one of them, notifications to all. */
export class PoolClient implements RequestSender {
  readonly #deps: PoolClientDeps

  constructor(deps: PoolClientDeps) {
    this.#deps = deps
  }

  async idle(): Promise<void> {
    await Promise.all(this.#deps.pool.instances.map(({ client }) => client.idle()))
  }

  /**
   * Sends a request to one instance. After a failure it goes to another instance, if the first has certainly not begun
   * it, or if the request is safe to repeat.
   */
  async request<Options extends RequestOptions, Result>(
    options: Options,
    send: (client: InstanceClient, options: Options) => Promise<Result>,
    tool?: string,
  ): Promise<Result> {
    const { pool, logger, onPicked } = this.#deps
    const tried = new Set<PoolInstance>()
    let retries = 0
    let failedAt: number | undefined
    let instance = pool.pick(tool, tried) ?? pool.next
    for (;;) {
      tried.add(instance)
      onPicked(pool.instances.indexOf(instance))
      const policy = retryPolicy(options, isSafe(instance, tool))
      const left = policy.maxRetries - retries
      const isLast = !pool.hasOther(tried)
      // Another instance at once is better than the same instance after a pause.
      const retry = isLast && left > 0 ? { ...policy, maxRetries: left } : (false as const)
      try {
        const result = await send(instance.client, { ...options, retry })
        if (failedAt !== undefined) {
          logRecovery(logger, tool, options, performance.now() - failedAt)
        }
        return result
      } catch (error) {
        const hasBegun = !(error instanceof ServerUnavailableError) || error.isOutcomeUnknown
        if (hasBegun) retries += 1
        const mayContinue = !hasBegun || (left > 0 && !isLast && mayRetry(error, policy))
        const next = mayContinue ? pool.pick(tool, tried) : undefined
        if (next === undefined) throw error
        failedAt ??= performance.now()
        instance = next
      }
    }
  }

  /** Notifies all ready instances; others are notified when they become ready. Throws when all fail. */
  async notify(send: (client: InstanceClient) => Promise<void>): Promise<void> {
    const { pool } = this.#deps
    const ready = pool.instances.filter(({ isReady }) => isReady)
    // While no instance is ready, the error of the next one gives the reason.
    const instances = ready.length > 0 ? ready : [pool.next]
    const outcomes = await Promise.allSettled(instances.map(({ client }) => send(client)))
    const [first] = outcomes
    if (first?.status === 'rejected' && outcomes.every(({ status }) => status === 'rejected')) {
      throw first.reason
    }
  }
}

function isSafe({ server }: PoolInstance, tool: string | undefined): boolean {
  if (tool === undefined) return true
  const known = server.lastLive?.inventory.tools.get(tool)
  return known !== undefined && isSafeToRepeat(known)
}
