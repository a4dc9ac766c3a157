import { Guardian } from '@mcp-host/process'
import { startBalancer } from './balancer.ts'
import type { Target } from './cells.ts'
import type { FixtureEra } from './fixture/options.ts'
import { fixtureCommand, startFixture } from './fixture-process.ts'
import { startGivenServer } from './given-server.ts'
import { startHost } from './host.ts'

export interface OpenTarget extends AsyncDisposable {
  /** URL for the suite. */
  readonly url: string
}

/** Starts the processes of a target. `command`: starts another server instead of the fixture. */
export async function openTarget(
  target: Target,
  folder: string,
  command?: string,
): Promise<OpenTarget> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const url = await start()
  const open = stack.move()
  return { url, [Symbol.asyncDispose]: () => open.disposeAsync() }

  async function start(): Promise<string> {
    if (target.kind === 'direct') return startServer('both')
    const { transport, era, gateways } = target
    const reach =
      transport === 'stdio' ? fixtureCommand(era) : { type: 'http', url: await startServer(era) }
    // An older server may only send requests to a client that has a dedicated process.
    const server = { ...reach, scope: era === 'legacy' ? 'session' : 'shared' }
    const { urls, mount } = stack.use(await startHost({ folder, guardian, server, gateways }))
    const { url: front } = stack.use(await startBalancer(urls))
    return `${gateways === 1 ? urls[0] : front}${mount}`
  }

  /** Starts the server over HTTP. */
  async function startServer(era: FixtureEra): Promise<string> {
    if (command === undefined) return startFixture(guardian, era)
    const given = await startGivenServer(guardian, command, folder)
    if (era !== 'legacy') return given
    const { origin, pathname } = new URL(given)
    const front = stack.use(await startBalancer([origin], { isLegacy: true }))
    return `${front.url}${pathname}`
  }
}
