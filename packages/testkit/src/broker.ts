import { join } from 'node:path'
import type { Bus, BusLogger } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import { freePort, startNatsServer } from '@mcp-host/tools/host'
import { Guardian } from 'mcp-host/process'
import { testFolder } from './test-folder.ts'

/** A real nats-server of the test's own. */
export interface Broker extends AsyncDisposable {
  readonly url: string
  pid(): number
  /** As if the machine had lost it: SIGKILL. */
  kill(): Promise<void>
  /** In its own time: SIGTERM. */
  stop(): Promise<void>
  /** On the same address and data. */
  start(): Promise<void>
  /** A bus connected to it, closed with it. */
  connect(name?: string): Promise<Bus>
}

const silent: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }

export interface BrokerOptions {
  /** Where it keeps its data; default: a folder of its own. */
  readonly folder?: string
  /** With less than this free there, nothing new is taken. Default: it is not looked at. */
  readonly minFreeBytes?: number
}

export async function startBroker({ folder, minFreeBytes }: BrokerOptions = {}): Promise<Broker> {
  await using stack = new AsyncDisposableStack()
  const path = folder ?? stack.use(await testFolder()).path
  const guardian = stack.use(new Guardian())
  const options = {
    bin: process.env['NATS_SERVER_BIN'] ?? 'nats-server',
    dataDir: join(path, 'nats'),
    port: await freePort(),
    token: crypto.randomUUID(),
  }
  let server = await startNatsServer(guardian, options)
  stack.defer(() => server.stop())
  const open = stack.move()
  const store = minFreeBytes === undefined ? undefined : { path, minFreeBytes }
  return {
    url: server.url,
    pid: () => server.process.pid,
    async kill() {
      server.process.signal('SIGKILL')
      await server.process.gone
    },
    stop: () => server.stop(),
    async start() {
      server = await startNatsServer(guardian, options)
    },
    connect: async (name = 'test') =>
      open.use(await connectBus({ url: server.url, name, logger: silent, store })),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
