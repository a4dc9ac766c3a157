import { Guardian } from 'mcp-host/process'
import { startBalancer } from './balancer.ts'
import type { Target } from './cells.ts'
import type { FixtureEra } from './fixture/options.ts'
import { fixtureCommand, startFixture } from './fixture-process.ts'
import { startGivenServer } from './given-server.ts'
import { startHost } from './host.ts'

export interface OpenTarget extends AsyncDisposable {
  /** What the suite is pointed at. */
  readonly url: string
}

/** Starts all that a target is made of. `command`: starts a server in place of the fixture. */
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
    // An older server may ask a client only where it has that one client alone.
    const server = { ...reach, scope: era === 'legacy' ? 'session' : 'shared' }
    const { urls, mount } = stack.use(await startHost({ folder, guardian, server, gateways }))
    const { url: front } = stack.use(await startBalancer(urls))
    return `${gateways === 1 ? urls[0] : front}${mount}`
  }

  /** With HTTP. */
  async function startServer(era: FixtureEra): Promise<string> {
    if (command === undefined) return startFixture(guardian, era)
    const given = await startGivenServer(guardian, command, folder)
    if (era !== 'legacy') return given
    const { origin, pathname } = new URL(given)
    const front = stack.use(await startBalancer([origin], { isLegacy: true }))
    return `${front.url}${pathname}`
  }
}
