import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startService } from '@mcp-host/tools/host'
import type { Guardian } from '@mcp-host/process'
import { startBroker } from './broker.ts'
import { testDist } from './test-dist.ts'

export interface GatewaysOptions {
  /** The folder of logs and `mcp.json`. */
  readonly folder: string
  readonly guardian: Guardian
  /** Entries of `mcp.json`, by name. */
  readonly servers: Readonly<Record<string, object>>
  readonly gateways?: number
  /** Additional settings of all services. */
  readonly env?: Readonly<Record<string, string>>
}

/** Gateways and a supervisor, which are all that MCP clients need of a host. */
export interface Gateways extends AsyncDisposable {
  readonly urls: readonly string[]
  /** Path of the `mcp.json`. */
  readonly mcpJson: string
  /** Process ids by instance, as `gateway-0` and `mcp-supervisor-0`. */
  readonly pids: Readonly<Record<string, number>>
}

export interface ServerState {
  readonly server: string
  readonly state: string
}

/** Resolves when the services are ready; their MCP servers may still be starting. */
export async function startGateways({
  folder,
  guardian,
  servers,
  gateways = 1,
  env = {},
}: GatewaysOptions): Promise<Gateways> {
  await using stack = new AsyncDisposableStack()
  await mkdir(folder, { recursive: true })
  const mcpJson = join(folder, 'mcp.json')
  await writeFile(mcpJson, JSON.stringify({ servers }, null, 2))
  const broker = stack.use(await startBroker())
  const settings = {
    PATH: process.env['PATH'],
    NATS_URL: broker.url,
    MCP_JSON_PATH: mcpJson,
    BUNDLES_CONFIG: 'none',
    PORT: '0',
    ...env,
  }
  const pids: Record<string, number> = {}
  const start = async (name: 'gateway' | 'mcp-supervisor', index = 0): Promise<string> => {
    const instance = `${name}-${index}`
    const own = { ...settings, NATS_NKEY_SEED_FILE: broker.seedFile(name) }
    const service = await startService(guardian, {
      name,
      instance,
      folder,
      env: own,
      dist: testDist(),
    })
    stack.defer(() => service.stop())
    pids[instance] = service.pid
    return service.url
  }
  const [urls] = await Promise.all([
    Promise.all(Array.from({ length: gateways }, (_, index) => start('gateway', index))),
    start('mcp-supervisor'),
  ])
  const open = stack.move()
  return { urls, mcpJson, pids, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** The states of the MCP servers of a gateway. */
export async function serverStates(url: string): Promise<readonly ServerState[]> {
  const response = await fetch(`${url}/health`)
  // The gateway's answer has a list of servers.
  return ((await response.json()) as { servers: readonly ServerState[] }).servers
}
