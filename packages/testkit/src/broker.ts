import { join } from 'node:path'
import type { Bus, BusLogger } from '@mcp-host/bus'
import { accountsConfig, connectBus, ensureCredentials, provision, seedFileOf } from '@mcp-host/bus'
import type { Participant } from '@mcp-host/contracts'
import { freePort, startNatsServer } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import { testFolder } from './test-folder.ts'

/** A nats-server for one test. */
export interface Broker extends AsyncDisposable {
  readonly url: string
  pid(): number
  /** Kills the process with SIGKILL, as a crash of the machine would. */
  kill(): Promise<void>
  /** Stops the process with SIGTERM. */
  stop(): Promise<void>
  /** Starts the process again with the same address and data. `token`: what clients must send; by default as before. */
  start(token?: string): Promise<void>
  /** The credential file of a service, where the broker has accounts. */
  seedFile(participant: Participant): string | undefined
  /** Settings of the commands for operators. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Connects a bus, which is closed with the broker. Where the broker has accounts, a service's name gets the rights of
   * the service, and any other name those of the commands for operators.
   */
  connect(name?: string): Promise<Bus>
}

const AUDIT_MS = 86_400_000
const silent: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }

export interface BrokerOptions {
  /** The folder of its data; by default a folder of its own. */
  readonly folder?: string
  /** The free space below which appends are refused; by default free space is not checked. */
  readonly minFreeBytes?: number
  /** The limit of its data, in bytes; with `minFreeBytes`, services look at it in place of the disk. */
  readonly maxBytes?: number
  /** Whether each service has its own account. By default where TEST_BUS_ACCOUNTS is set. */
  readonly hasAccounts?: boolean
}

export async function startBroker({
  folder,
  minFreeBytes,
  maxBytes,
  hasAccounts = (process.env['TEST_BUS_ACCOUNTS'] ?? '') !== '',
}: BrokerOptions = {}): Promise<Broker> {
  await using stack = new AsyncDisposableStack()
  const path = folder ?? stack.use(await testFolder()).path
  const guardian = stack.use(new Guardian())
  const seeds = hasAccounts ? join(path, 'credentials') : undefined
  const seedFile = (participant: Participant): string | undefined =>
    seeds === undefined ? undefined : seedFileOf(seeds, participant)
  const options = {
    bin: process.env['NATS_SERVER_BIN'] ?? 'nats-server',
    dataDir: join(path, 'nats'),
    port: await freePort(),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    token: crypto.randomUUID(),
    accounts: seeds === undefined ? undefined : accountsConfig(await ensureCredentials(seeds)),
  }
  let server = await startNatsServer(guardian, options)
  const kill = async (): Promise<void> => {
    server.process.signal('SIGKILL')
    await server.process.gone
  }
  // Its data is of no use any more, and an orderly end takes a second.
  stack.defer(kill)
  const credential = { seedFile: seedFile('tools') }
  if (hasAccounts) {
    const { url } = server
    await provision({ url, credential, replicas: 1, auditMaxAgeMs: AUDIT_MS, logger: silent })
  }
  const open = stack.move()
  const room = maxBytes === undefined ? { path } : { maxBytes }
  const store = minFreeBytes === undefined ? undefined : { ...room, minFreeBytes }
  return {
    url: server.url,
    pid: () => server.process.pid,
    kill,
    stop: () => server.stop(),
    async start(token = options.token) {
      server = await startNatsServer(guardian, { ...options, token })
    },
    seedFile,
    env: seeds === undefined ? {} : { NATS_NKEY_SEED_FILE: seeds },
    connect: async (name = 'test') => {
      const about = { url: server.url, name, logger: silent, store }
      return open.use(await connectBus({ ...about, credential: { seedFile: seeds } }))
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
