import { Guardian } from 'mcp-host/process'
import { startBalancer } from './balancer.ts'
import type { Target } from './cells.ts'
import { fixtureCommand, startFixture } from './fixture-process.ts'
import { startHost } from './host.ts'

export interface OpenTarget extends AsyncDisposable {
  /** What the suite is pointed at. */
  readonly url: string
}

/** Starts all that a target is made of. */
export async function openTarget(target: Target, folder: string): Promise<OpenTarget> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const url = await start()
  const open = stack.move()
  return { url, [Symbol.asyncDispose]: () => open.disposeAsync() }

  async function start(): Promise<string> {
    if (target.kind === 'direct') return startFixture(guardian, 'both')
    const { transport, era, gateways } = target
    const reach =
      transport === 'stdio'
        ? fixtureCommand(era)
        : { type: 'http', url: await startFixture(guardian, era) }
    // An older server may ask a client only where it has that one client alone.
    const server = { ...reach, scope: era === 'legacy' ? 'session' : 'shared' }
    const { urls, mount } = stack.use(await startHost({ folder, guardian, server, gateways }))
    const { url: front } = stack.use(await startBalancer(urls))
    return `${gateways === 1 ? urls[0] : front}${mount}`
  }
}
