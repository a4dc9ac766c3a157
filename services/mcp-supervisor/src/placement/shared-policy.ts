import { isDeepStrictEqual } from 'node:util'
import type { ServerStats } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { ServerConfig } from 'mcp-host'
import { HostedServer } from '../hosting/hosted-server.ts'
import { RequestForwarder } from '../mcp-requests/request-forwarder.ts'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** A server with one process at this supervisor, which all callers share. */
export abstract class SharedPolicy implements PlacementPolicy {
  protected readonly context: PlacementContext
  /** Once it was started, until its end. */
  protected hosted: HostedServer | undefined

  constructor(context: PlacementContext) {
    this.context = context
  }

  /** Starts the server and serves it until the signal aborts. */
  protected abstract serve(): Promise<void>

  async run(): Promise<void> {
    try {
      await this.serve()
    } finally {
      await this.endHosted()
    }
  }

  async adapt(config: ServerConfig): Promise<boolean> {
    const { context, hosted } = this
    if (!differInInstances(context.config, config)) return false
    // One that is not there yet may be waiting for what is wrong with the instances before.
    if (hosted !== undefined && hosted.snapshot?.state !== 'ready') return false
    context.config = config
    try {
      await hosted?.reload(config)
      return true
    } catch {
      // It ends just now: what begins anew has the new configuration.
      return false
    }
  }

  async restart(): Promise<void> {
    const { name } = this.context
    if (this.hosted !== undefined) return await this.hosted.restart()
    throw new BusError('not-found', `the MCP server "${name}" does not run here`)
  }

  async runSessionTool(): Promise<never> {
    const message = `the MCP server "${this.context.name}" has no processes of sessions`
    throw new BusError('not-found', message)
  }

  stats(): Partial<ServerStats> {
    const health = this.hosted?.snapshot?.health
    if (health === undefined) return {}
    return { healthScore: health.score, checkedAt: health.checkedAt }
  }

  async end(): Promise<void> {
    await this.hosted?.[Symbol.asyncDispose]()
  }

  protected begin(onChange: () => void = () => undefined): HostedServer {
    const { context } = this
    const { name, config, deps } = context
    const { bus, inputTimeoutMs } = deps
    const forwarder = new RequestForwarder({ bus, server: name, inputTimeoutMs })
    // All callers share the process, so the server may ask none of them.
    const host = deps.makeHost({ callback: forwarder.callback, kinds: ['log'] })
    this.hosted = new HostedServer(deps, host, {
      name,
      config,
      forwarder,
      onChange: (snapshot) => {
        context.publish(snapshot)
        onChange()
      },
    })
    return this.hosted
  }

  protected async endHosted(): Promise<void> {
    const { hosted } = this
    this.hosted = undefined
    await hosted?.[Symbol.asyncDispose]()
    this.context.unpublish()
  }
}

/** Whether both have instances, and are the same server apart from that. */
function differInInstances(before: ServerConfig, after: ServerConfig): boolean {
  const { instances: one, balance: _, ...shared } = before
  const { instances: other, balance: __, ...now } = after
  return one !== undefined && other !== undefined && isDeepStrictEqual(shared, now)
}
