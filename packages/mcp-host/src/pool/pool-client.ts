import type {
  CallToolResult,
  CompleteResult,
  GetPromptResult,
  LoggingLevel,
  ReadResourceResult,
} from '@modelcontextprotocol/client'

import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { isSafeToRepeat } from '../inventory/tool.ts'
import type { Logger } from '../logger.ts'
import type { CallToolOptions, ForwardOptions, RequestOptions } from '../requests/options.ts'
import { mayRetry, retryPolicy } from '../requests/retry-policy.ts'
import type { MemberClient } from '../server/managed-server.ts'
import type { ServerClient } from '../server/server-client.ts'
import type { PoolInstance } from './pool-instance.ts'
import type { ServerPool } from './server-pool.ts'

export interface PoolClientDeps {
  readonly pool: ServerPool
  readonly logger: Logger
  /** Called with the position, from 0 on, of the instance that a request goes to. */
  readonly onPicked: (position: number) => void
}

/** The client of a server with instances: each request goes to one of them, notifications to all. */
export class PoolClient implements MemberClient {
  readonly #pool: ServerPool
  readonly #logger: Logger
  readonly #onPicked: PoolClientDeps['onPicked']

  constructor({ pool, logger, onPicked }: PoolClientDeps) {
    this.#pool = pool
    this.#logger = logger
    this.#onPicked = onPicked
  }

  async idle(): Promise<void> {
    await Promise.all(this.#pool.instances.map(({ client }) => client.idle()))
  }

  callTool(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: CallToolOptions,
  ): Promise<CallToolResult> {
    return this.#run(options, (client, own) => client.callTool(tool, args, own), tool)
  }

  forward(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: ForwardOptions,
  ): Promise<unknown> {
    const tool = method === 'tools/call' ? String(params['name']) : undefined
    return this.#run(options, (client, own) => client.forward(method, params, own), tool)
  }

  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: RequestOptions,
  ): Promise<GetPromptResult> {
    return this.#run(options, (client, own) => client.getPrompt(name, args, own))
  }

  readResource(uri: string, options: RequestOptions): Promise<ReadResourceResult> {
    return this.#run(options, (client, own) => client.readResource(uri, own))
  }

  complete(
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<CompleteResult> {
    return this.#run(options, (client, own) => client.complete(params, own))
  }

  setLoggingLevel(level: LoggingLevel, options: RequestOptions): Promise<void> {
    return this.#tell((client) => client.setLoggingLevel(level, options))
  }

  subscribe(uri: string, options: RequestOptions): Promise<void> {
    return this.#tell((client) => client.subscribe(uri, options))
  }

  unsubscribe(uri: string, options: RequestOptions): Promise<void> {
    return this.#tell((client) => client.unsubscribe(uri, options))
  }

  rootsChanged(): Promise<void> {
    return this.#tell((client) => client.rootsChanged())
  }

  /**
   * Asks one instance, and another where the first surely has not begun; where it may have begun, only if the
   * request is safe to repeat.
   */
  async #run<Options extends RequestOptions, Result>(
    options: Options,
    ask: (client: ServerClient, options: Options) => Promise<Result>,
    tool?: string,
  ): Promise<Result> {
    const pool = this.#pool
    const tried = new Set<PoolInstance>()
    let retries = 0
    let instance = pool.pick(tool, tried) ?? pool.next
    for (;;) {
      tried.add(instance)
      this.#onPicked(pool.instances.indexOf(instance))
      const policy = retryPolicy(options, isSafe(instance, tool))
      const left = policy.maxRetries - retries
      const isLast = !pool.hasOther(tried)
      // Another instance at once is better than the same one after a while.
      const retry = isLast && left > 0 ? { ...policy, maxRetries: left } : (false as const)
      try {
        return await ask(instance.client, { ...options, retry })
      } catch (error) {
        const hasBegun = !(error instanceof ServerUnavailableError) || error.isOutcomeUnknown
        if (hasBegun) retries += 1
        const mayGoOn = !hasBegun || (left > 0 && !isLast && mayRetry(error, policy))
        const next = mayGoOn ? pool.pick(tool, tried) : undefined
        if (next === undefined) throw error
        const { requestId, sessionId, correlationId } = options
        const request = { tool, requestId, sessionId, correlationId }
        const fields = { action: 'failover', ...request, err: error }
        this.#logger.debug(fields, 'the request goes to another instance')
        instance = next
      }
    }
  }

  /** Notifies all ready instances; others are notified when they become ready. Throws when none takes it. */
  async #tell(tell: (client: ServerClient) => Promise<void>): Promise<void> {
    const ready = this.#pool.instances.filter(({ isReady }) => isReady)
    // While none is ready, the one to wait for says why.
    const asked = ready.length > 0 ? ready : [this.#pool.next]
    const told = await Promise.allSettled(asked.map(({ client }) => tell(client)))
    const [first] = told
    if (first?.status === 'rejected' && told.every(({ status }) => status === 'rejected')) {
      throw first.reason
    }
  }
}

function isSafe({ server }: PoolInstance, tool: string | undefined): boolean {
  if (tool === undefined) return true
  const known = server.lastLive?.inventory.tools.get(tool)
  return known !== undefined && isSafeToRepeat(known)
}
