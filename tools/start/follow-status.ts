import type { BrokerAddress } from '../host/connect-quietly.ts'
import { connectQuietly } from '../host/connect-quietly.ts'
import type { Say } from '../host/keep-running.ts'
import { StatusLines } from './status-lines.ts'

const LOOK_MS = 200

export interface FollowOptions {
  readonly broker: BrokerAddress
  /** Names of the MCP servers in `mcp.json`. */
  readonly configured: readonly string[]
  readonly say: Say
}

export interface FollowedStatus extends AsyncDisposable {
  /** Resolves once the model and every MCP server has its line, even if the server is still starting. */
  readonly complete: Promise<void>
}

/** Prints the state of the host and its changes, until disposed. */
export async function followStatus({
  broker,
  configured,
  say,
}: FollowOptions): Promise<FollowedStatus> {
  await using stack = new AsyncDisposableStack()
  const bus = stack.use(await connectQuietly(broker, 'starter'))
  const catalog = await bus.catalog.watch()
  const lines = new StatusLines({ say, configured, now: () => performance.now() })
  const complete = Promise.withResolvers<void>()
  const look = (): void => {
    lines.update(catalog.entries.values())
    if (lines.isComplete) complete.resolve()
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  stack.defer(() => clearInterval(timer))
  const open = stack.move()
  return { complete: complete.promise, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
