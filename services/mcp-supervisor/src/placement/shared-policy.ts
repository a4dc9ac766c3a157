import type { ServerStats } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { differInInstances, type ServerConfig } from '@mcp-host/upstream'
import { HostedServer, ServedRequests } from '@mcp-host/mcp-bus/serve'
import type { PlacementContext } from './placement-context.ts'
import type { PlacementPolicy } from './policy.ts'

/** A server with one process at this supervisor that all callers share. */
export abstract class SharedPolicy implements PlacementPolicy {
  protected readonly context: PlacementContext
  /** The running server. */
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
    // A server that is not ready may wait for an instance that the change removes.
    if (hosted !== undefined && hosted.snapshot.state !== 'ready') return false
    if (hosted?.adapt(config) === false) return false
    context.config = config
    return true
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

  get output(): readonly string[] {
    return this.hosted?.output ?? []
  }

  stats(): Partial<ServerStats> {
    const health = this.hosted?.snapshot.health
    if (health === undefined) return {}
    return { healthScore: health.score, checkedAt: health.checkedAt }
  }

  async end(): Promise<void> {
    await this.hosted?.[Symbol.asyncDispose]()
  }

  protected begin(onChange: () => void = () => undefined): HostedServer {
    const { context } = this
    const { name, config, deps } = context
    const { bus, audit, inputTimeoutMs } = deps
    const requests = new ServedRequests({ bus, audit, server: name, inputTimeoutMs })
    this.hosted = new HostedServer(deps, {
      name,
      config,
      // All callers share the process, so the server cannot ask any of them.
      answers: { callback: requests.callback, kinds: ['log'] },
      requests,
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
