import { isDeepStrictEqual } from 'node:util'
import type { ServedRequest } from '@mcp-host/bus'
import type { ReloadResult, RunToolRequest, ServerStats } from '@mcp-host/contracts'
import { BusError, ServerName } from '@mcp-host/contracts'
import type { McpConfig, ServerConfig } from 'mcp-host'
import type { PlacementDeps } from './placement-context.ts'
import { PlacedServer } from './placed-server.ts'

/** Calls of a server that was changed or removed may take so long to end. */
const DRAIN_LIMIT_MS = 60_000

/** All configured servers, each placed by itself. */
export class Placement implements AsyncDisposable {
  readonly #deps: PlacementDeps
  readonly #servers = new Map<ServerName, PlacedServer>()
  #applied: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(deps: PlacementDeps) {
    this.#deps = deps
  }

  /** Touches only the servers that differ; their calls under way may end. One change at a time. */
  apply(config: McpConfig): Promise<ReloadResult> {
    const applied = this.#applied.then(() => this.#apply(config))
    this.#applied = applied.catch(() => undefined)
    return applied
  }

  stats(): Readonly<Record<string, ServerStats>> {
    return Object.fromEntries(Array.from(this.#servers, ([name, { stats }]) => [name, stats]))
  }

  async restart(name: ServerName): Promise<void> {
    await this.#find(name).restart()
  }

  async runSessionTool(
    name: ServerName,
    served: ServedRequest<RunToolRequest>,
  ): Promise<{ supervisor: string }> {
    return this.#find(name).runSessionTool(served)
  }

  /** Stops all, each as soon as its calls have ended. */
  async drain(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#servers.values(), (server) => server.drain()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#servers.values(), (server) => server[Symbol.asyncDispose]()))
  }

  #find(name: ServerName): PlacedServer {
    const server = this.#servers.get(name)
    if (server !== undefined) return server
    throw new BusError('not-found', `there is no MCP server "${name}" in the configuration`)
  }

  async #apply({ servers }: McpConfig): Promise<ReloadResult> {
    if (this.#isClosed) throw new BusError('unavailable', 'this supervisor is stopping')
    const result: ReloadResult = { added: [], changed: [], removed: [], unchanged: [] }
    const ended: Promise<void>[] = []
    for (const [name, placed] of this.#servers) {
      if (Object.hasOwn(servers, name)) continue
      result.removed.push(name)
      ended.push(endOf(placed).then(() => this.#forget(name)))
    }
    for (const [key, config] of Object.entries(servers)) {
      const name = ServerName.parse(key)
      const before = this.#servers.get(name)
      if (before === undefined) {
        result.added.push(name)
        this.#begin(name, config)
      } else if (isDeepStrictEqual(config, before.config)) result.unchanged.push(name)
      else {
        result.changed.push(name)
        // Each by itself: a long call of one server must not keep the others away.
        ended.push(this.#change(before, config))
      }
    }
    await Promise.all(ended)
    return result
  }

  #forget(name: ServerName): void {
    this.#servers.delete(name)
    this.#deps.onRemoved(name)
  }

  async #change(before: PlacedServer, config: ServerConfig): Promise<void> {
    if (await before.adapt(config)) return
    await endOf(before)
    this.#begin(before.name, config)
  }

  #begin(name: ServerName, config: ServerConfig): void {
    // Nothing would end it.
    if (this.#isClosed) return
    this.#servers.set(name, new PlacedServer(this.#deps, name, config))
  }
}

async function endOf(server: PlacedServer): Promise<void> {
  const late = setTimeout(() => void server[Symbol.asyncDispose](), DRAIN_LIMIT_MS)
  await server.drain()
  clearTimeout(late)
}
