import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, serverStates, startGateways } from '@mcp-host/testkit'
import type { Guardian } from '@mcp-host/process'

const SERVER = 'fixture'
/** The suite expects the names of the fixture, without prefixes. */
const BUNDLES = { bundles: { suite: { names: 'never' } } }
/** The time limit for a call, longer than all calls of the suite except the one that closes its stream. */
const STREAM_MS = '3500'
const MOUNT = '/mcp/bundles/suite'

export interface HostOptions {
  /** Folder for logs and `mcp.json`. */
  readonly folder: string
  readonly guardian: Guardian
  /** The entry of the server in `mcp.json`. */
  readonly server: object
  readonly gateways: number
}

/** Gateways with one server. */
export interface Host extends AsyncDisposable {
  /** Base URLs of all gateways. */
  readonly urls: readonly string[]
  /** Path of the server at each gateway. */
  readonly mount: string
}

export async function startHost({
  folder,
  guardian,
  server,
  gateways: count,
}: HostOptions): Promise<Host> {
  await using stack = new AsyncDisposableStack()
  await mkdir(folder, { recursive: true })
  const bundles = join(folder, 'bundles.json')
  await writeFile(bundles, JSON.stringify(BUNDLES))
  const gateways = stack.use(
    await startGateways({
      folder,
      guardian,
      servers: { [SERVER]: server },
      gateways: count,
      env: { BUNDLES_CONFIG: bundles, MCP_STREAM_MS: STREAM_MS },
    }),
  )
  for (const url of gateways.urls) {
    await eventually(
      async () =>
        (await serverStates(url)).some(
          ({ server: name, state }) => name === SERVER && state === 'ready',
        ),
      { what: `${SERVER} at a gateway` },
    )
  }
  const open = stack.move()
  return { urls: gateways.urls, mount: MOUNT, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
