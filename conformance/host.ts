import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, startBroker } from '@mcp-host/testkit'
import { startService } from '@mcp-host/tools/host'
import type { Guardian } from 'mcp-host/process'

const SERVER = 'fixture'
/** The suite wants its own names, so nothing stands before them. */
const BUNDLES = { bundles: { suite: { names: 'never' } } }
/** Longer than what the suite calls takes, but for the tool that hangs up. */
const STREAM_MS = '3500'
const MOUNT = '/mcp/bundles/suite'

export interface HostOptions {
  /** For logs and `mcp.json`. */
  readonly folder: string
  readonly guardian: Guardian
  /** The entry of `mcp.json`. */
  readonly server: object
  readonly gateways: number
}

/** Gateways and a supervisor that runs one server, which is all that MCP clients need of a host. */
export interface Host extends AsyncDisposable {
  /** Of all gateways. */
  readonly urls: readonly string[]
  /** Where the server is, at each of them. */
  readonly mount: string
}

export async function startHost({
  folder,
  guardian,
  server,
  gateways,
}: HostOptions): Promise<Host> {
  await using stack = new AsyncDisposableStack()
  await mkdir(folder, { recursive: true })
  const mcpJson = join(folder, 'mcp.json')
  await writeFile(mcpJson, JSON.stringify({ servers: { [SERVER]: server } }, null, 2))
  const bundles = join(folder, 'bundles.json')
  await writeFile(bundles, JSON.stringify(BUNDLES))
  const broker = stack.use(await startBroker())
  const start = async (name: 'gateway' | 'mcp-supervisor', index = 0): Promise<string> => {
    const env = {
      PATH: process.env['PATH'],
      NATS_URL: broker.url,
      MCP_JSON_PATH: mcpJson,
      BUNDLES_CONFIG: bundles,
      PORT: '0',
      MCP_STREAM_MS: STREAM_MS,
    }
    const instance = `${name}-${index}`
    const service = await startService(guardian, { name, instance, folder, env })
    stack.defer(() => service.stop())
    return service.url
  }
  const [urls] = await Promise.all([
    Promise.all(Array.from({ length: gateways }, (_, index) => start('gateway', index))),
    start('mcp-supervisor'),
  ])
  for (const url of urls) {
    await eventually(() => isServerReady(url), { what: `${SERVER} at a gateway` })
  }
  const open = stack.move()
  return { urls, mount: MOUNT, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

async function isServerReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health`)
  // The list of servers is part of the gateway's answer.
  const { servers } = (await response.json()) as {
    servers: readonly { server: string; state: string }[]
  }
  return servers.some(({ server, state }) => server === SERVER && state === 'ready')
}
