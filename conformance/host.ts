import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, serverStates, startGateways } from '@mcp-host/testkit'
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

/** Gateways with one server behind them. */
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
