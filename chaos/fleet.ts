import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { HostileKind, JournalEntry, SmallDisk } from '@mcp-host/testkit'
import {
  callHostileServer,
  eventually,
  hostileServer,
  isReady,
  movedClock,
  readJournal,
  smallDisk,
  testDist,
} from '@mcp-host/testkit'
import { accountsConfig, ensureCredentials, seedFileOf } from '@mcp-host/bus'
import type { BrokerAddress } from '@mcp-host/tools/host'
import {
  connectQuietly,
  createStreams,
  freePort,
  SERVICES,
  startNatsServer,
  startService,
} from '@mcp-host/tools/host'
import type { GuardedProcess } from '@mcp-host/process'
import { Guardian } from '@mcp-host/process'
import { damageLog, fillBlock } from './damage.ts'
import type { ClockFault, CorruptFault, Target } from './faults.ts'
import { Replica } from './replica.ts'
import { TOOL_COUNT, toolServers } from './servers/tool-servers.ts'

/** The limit of `npm start` for a successor. */
const SUCCESSOR_LIMIT_MS = '30000'
const HOSTILE = 'hostile'
/** Larger than the data of a run, and quick to fill. */
const DISK_MEGABYTES = 256
/** Time for chats to write to a block file before it is deleted. */
const NEW_BLOCK_MS = 2_000

export interface FleetOptions {
  /** Folder for logs, data and the journal of the MCP servers. */
  readonly folder: string
  /** Number of nats-servers in the cluster: 1 or 3. */
  readonly natsServers: number
  /** Number of processes of each service. With one, its successor starts before it stops. */
  readonly instances: number
  /** Puts the data of each nats-server on a disk that can be filled. */
  readonly hasSmallDisks?: boolean
  /** Gives each service its own account at nats-server. */
  readonly hasAccounts?: boolean
  /** Additional MCP servers with one tool each: their `mcp.json` entries, by name. */
  readonly servers?: Readonly<Record<string, object>>
  /** Additional settings of all services. */
  readonly env?: Readonly<Record<string, string>>
}

/** A host with one or two processes of each service, which are restarted after faults. */
export interface Fleet extends AsyncDisposable {
  /** URLs of all gateways. */
  readonly urls: readonly string[]
  readonly broker: BrokerAddress
  readonly natsServers: number
  /** The processes of a service or of nats-server. */
  replicas(target: Target): readonly Replica[]
  /** Adds a hostile MCP server for `ms`, and calls its tool. */
  runHostileServer(kind: HostileKind, ms: number): Promise<void>
  /** Kills nats-server and damages its session log before it starts again. */
  corrupt(fault: CorruptFault): Promise<void>
  /** Restarts a process of a service with a moved clock. */
  moveClock(fault: ClockFault): Promise<void>
  /**
   * Whether this run was connected to the broker at a time in epoch milliseconds. It may report losses like the host.
   */
  hasConnected(at: number): boolean
  /** The calls that reached the MCP servers. */
  journal(): Promise<JournalEntry[]>
}

export async function startFleet({
  folder,
  natsServers,
  instances,
  hasSmallDisks = false,
  hasAccounts = false,
  servers: others = {},
  env = {},
}: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  // Unmounted after all processes have ended.
  const disksOpen = stack.use(new AsyncDisposableStack())
  const guardian = stack.use(new Guardian())
  const journalFile = join(folder, 'journal.jsonl')
  await writeFile(journalFile, '')
  const mcpJson = join(folder, 'mcp.json')
  const servers = { ...toolServers(journalFile), ...others }
  const writeServers = async (more: object): Promise<void> => {
    // Replaces the file, so that a reader never sees half of it.
    await writeFile(`${mcpJson}.new`, JSON.stringify({ servers: { ...servers, ...more } }))
    await rename(`${mcpJson}.new`, mcpJson)
  }
  await Promise.all([writeServers({}), mkdir(join(folder, 'run'))])

  const natsFolders = Array.from({ length: natsServers }, (_, index) =>
    join(folder, 'nats', String(index)),
  )
  const disks = hasSmallDisks
    ? await Promise.all(natsFolders.map(async () => disksOpen.use(await smallDisk(DISK_MEGABYTES))))
    : []
  const seeds = hasAccounts ? join(folder, 'bus') : undefined
  const { natsUrl, nodes } = await startNats(guardian, natsFolders, disks, seeds)
  const broker = { url: natsUrl, credential: { seedFile: seeds } }
  const NATS_REPLICAS = String(natsServers)
  if (hasAccounts) await createStreams({ NATS_REPLICAS }, broker)
  const gatewayPorts = await Promise.all(Array.from({ length: instances }, freePort))
  const urls = gatewayPorts.map((port) => `http://127.0.0.1:${port}`)
  /** How far the clocks of processes are ahead, by name. */
  const offsetsMs = new Map<string, number>()
  const services = await Promise.all(
    SERVICES.map(async (name) => {
      const replicas = gatewayPorts.map((port, index) =>
        Replica.start(`${name}-${index}`, async () => {
          const { process: started } = await startService(guardian, {
            name,
            instance: `${name}-${index}`,
            folder: join(folder, 'run'),
            dist: testDist(),
            env: {
              PATH: process.env['PATH'],
              NATS_URL: natsUrl,
              NATS_REPLICAS,
              ...(seeds === undefined ? {} : { NATS_NKEY_SEED_FILE: seedFileOf(seeds, name) }),
              MCP_JSON_PATH: mcpJson,
              // A restarted gateway has the same address.
              PORT: String(port),
              DEMO_SCRIPTED: 'true',
              LLM_PROVIDER: 'demo',
              ...movedClock(offsetsMs.get(`${name}-${index}`)),
              ...env,
              ...(instances === 1 ? { SUCCESSOR_LIMIT_MS } : {}),
            },
          })
          return started
        }),
      )
      return [name, await Promise.all(replicas)] as const
    }),
  )
  const all = new Map<Target, readonly Replica[]>([['nats', nodes], ...services])
  const toolCount = TOOL_COUNT + Object.keys(others).length
  for (const url of urls) {
    await eventually(() => isReady(url, toolCount), { what: 'a ready host' })
  }
  const connected: { from: number; to: number }[] = []
  const open = stack.move()
  return {
    urls,
    broker,
    natsServers,
    replicas: (target) => all.get(target) ?? [],
    async runHostileServer(kind, ms) {
      await using own = new Guardian()
      await writeServers({ [HOSTILE]: await hostileServer(own, kind) })
      const [url = ''] = urls
      await callHostileServer({ url, name: HOSTILE, kind }, AbortSignal.timeout(ms))
      await writeServers({})
    },
    async corrupt({ damage, downMs }) {
      if (damage.how === 'delete') {
        const from = Date.now()
        {
          await using bus = await connectQuietly(broker, 'chaos')
          await fillBlock(bus)
        }
        connected.push({ from, to: Date.now() })
        await delay(NEW_BLOCK_MS)
      }
      const dataDir = disks[0]?.path ?? natsFolders[0] ?? ''
      await nodes[0]?.inject({ kind: 'kill', downMs }, () => damageLog(dataDir, damage))
    },
    async moveClock({ target, replica, offsetMs, downMs }) {
      offsetsMs.set(`${target}-${replica}`, offsetMs)
      await all.get(target)?.[replica]?.inject({ kind: 'term', downMs })
    },
    hasConnected: (at) => connected.some(({ from, to }) => at >= from && at <= to),
    journal: () => readJournal(journalFile),
    async [Symbol.asyncDispose]() {
      // Processes may end now.
      for (const replica of [...all.values()].flat()) replica.release()
      await open.disposeAsync()
    },
  }
}

async function startNats(
  guardian: Guardian,
  folders: readonly string[],
  disks: readonly SmallDisk[],
  seeds: string | undefined,
): Promise<{ natsUrl: string; nodes: Replica[] }> {
  const count = folders.length
  const token = crypto.randomUUID()
  const accounts = seeds === undefined ? undefined : accountsConfig(await ensureCredentials(seeds))
  const bin = process.env['NATS_SERVER_BIN'] ?? 'nats-server'
  const ports = (): Promise<number[]> => Promise.all(Array.from({ length: count }, freePort))
  const [clients, routes, health] = [await ports(), await ports(), await ports()]
  const start = async (index: number): Promise<GuardedProcess> => {
    const healthPort = health[index] ?? 0
    const cluster = {
      name: `nats-${index}`,
      port: routes[index] ?? 0,
      ports: routes,
      healthPort,
    }
    const node = await startNatsServer(guardian, {
      bin,
      dataDir: disks[index]?.path ?? folders[index] ?? '',
      port: clients[index] ?? 0,
      token,
      accounts,
      ...(count > 1 ? { cluster } : {}),
    })
    // A restarted server must catch up before the next fault.
    if (count > 1)
      await eventually(() => isHealthy(healthPort), {
        limitMs: 60_000,
        what: `a healthy nats-${index}`,
      })
    return node.process
  }
  const nodes = await Promise.all(
    clients.map((_, index) => Replica.start(`nats-${index}`, () => start(index), disks[index])),
  )
  const secret = accounts === undefined ? `${token}@` : ''
  const natsUrl = clients.map((port) => `nats://${secret}127.0.0.1:${port}`).join(',')
  return { natsUrl, nodes }
}

async function isHealthy(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined)
  return response?.ok === true
}
