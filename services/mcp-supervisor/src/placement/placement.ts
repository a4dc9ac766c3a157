import { isDeepStrictEqual } from 'node:util'
import type { ReloadResult, ServerStats } from '@mcp-host/contracts'
import { BusError, ServerName } from '@mcp-host/contracts'
import type { McpConfig } from '@mcp-host/mcp-json'
import type { ServerConfig } from '@mcp-host/upstream'
import type { PlacementDeps } from './placement-context.ts'
import { PausedPolicy } from './paused.ts'
import { PlacedServer } from './placed-server.ts'
import type { PlacementPolicy } from './policy.ts'

/** The time limit for the calls in flight of a server that was changed or removed. */
const DRAIN_LIMIT_MS = 60_000

/** All configured servers, each placed independently. */
export class Placement implements AsyncDisposable {
  readonly #deps: PlacementDeps
  readonly #servers = new Map<ServerName, PlacedServer>()
  #isClosed = false

  constructor(deps: PlacementDeps) {
    this.#deps = deps
  }

  stats(): Readonly<Record<string, ServerStats>> {
    return Object.fromEntries(Array.from(this.#servers, ([name, { stats }]) => [name, stats]))
  }

  /** The policy of a server. Throws `not-found`. */
  policy(name: ServerName): PlacementPolicy {
    const server = this.#servers.get(name)
    if (server !== undefined) return server.policy
    throw new BusError('not-found', `there is no MCP server "${name}" in the configuration`)
  }

  /** Stops all servers, each as soon as its calls have ended. */
  async drain(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#servers.values(), (server) => server.drain()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#servers.values(), (server) => server[Symbol.asyncDispose]()))
  }

  /**
   * Starts, changes and ends the servers whose configuration differs. Their calls in flight are completed. The caller
   * waits for one change before the next.
   */
  async apply({ servers }: McpConfig): Promise<ReloadResult> {
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
      } else if (isDeepStrictEqual(config, before.context.config)) result.unchanged.push(name)
      else {
        result.changed.push(name)
        // Changes run concurrently, so that a long call of one server does not delay the others.
        ended.push(this.#change(before, config))
      }
    }
    await Promise.all(ended)
    return result
  }

  /** Ends the servers that are to pause, and starts those whose pause is over. Waits like `apply`. */
  async followPauses(): Promise<void> {
    const { pauses } = this.#deps
    const changed = Array.from(this.#servers.values()).filter(
      ({ context, policy }) =>
        policy instanceof PausedPolicy !== (pauses.until(context.name) !== undefined),
    )
    await Promise.all(changed.map((before) => this.#replace(before, before.context.config)))
  }

  #forget(name: ServerName): void {
    this.#servers.delete(name)
    this.#deps.onRemoved(name)
  }

  async #change(before: PlacedServer, config: ServerConfig): Promise<void> {
    if (!(await before.policy.adapt(config))) await this.#replace(before, config)
  }

  async #replace(before: PlacedServer, config: ServerConfig): Promise<void> {
    await endOf(before)
    this.#begin(before.context.name, config)
  }

  #begin(name: ServerName, config: ServerConfig): void {
    // A server that begins after the disposal would never end.
    if (this.#isClosed) return
    this.#servers.set(name, new PlacedServer(this.#deps, name, config))
  }
}

async function endOf(server: PlacedServer): Promise<void> {
  const late = setTimeout(() => void server[Symbol.asyncDispose](), DRAIN_LIMIT_MS)
  await server.drain()
  clearTimeout(late)
}
