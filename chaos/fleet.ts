import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { HostileKind, JournalEntry, SmallDisk } from '@mcp-host/testkit'
import {
  callHostileServer,
  eventually,
  hostileServer,
  isReady,
  readJournal,
  smallDisk,
  toolServer,
} from '@mcp-host/testkit'
import { freePort, SERVICES, startNatsServer, startService } from '@mcp-host/tools/host'
import type { GuardedProcess } from 'mcp-host/process'
import { Guardian } from 'mcp-host/process'
import { connectBus } from '@mcp-host/bus'
import { beginBlock, damageLog } from './damage.ts'
import type { CorruptFault, Target } from './faults.ts'
import { SERVERS } from './planned-turn.ts'
import { Replica } from './replica.ts'

/** As long as `npm start` waits for a successor. */
const SUCCESSOR_LIMIT_MS = '30000'
const HOSTILE = 'hostile'
/** More than a run stores, and filled at once. */
const DISK_MEGABYTES = 256
/** How much of the chats a block file has that is to be deleted. */
const NEW_BLOCK_MS = 2_000
const inputSchema = { type: 'object', properties: { id: { type: 'string' } } }
const TOOLS = [
  { name: 'mark', inputSchema, delayMs: 200 },
  { name: 'look', inputSchema, delayMs: 200, annotations: { readOnlyHint: true } },
]

export interface FleetOptions {
  /** For logs, data and the journal of the MCP servers. */
  readonly folder: string
  /** How many nats-servers keep the data together: 1 or 3. */
  readonly natsServers: number
  /** How many processes of each service there are. With one its successor starts before it stops. */
  readonly instances: 1 | 2
  /** The data of each nats-server is on a disk that can be filled. */
  readonly hasSmallDisks?: boolean
}

/** The whole host with one or two processes of each service, each of which may be struck and comes back in place. */
export interface Fleet extends AsyncDisposable {
  /** Of all gateways. */
  readonly urls: readonly string[]
  readonly natsUrl: string
  readonly natsServers: number
  /** The processes of a service. */
  replicas(target: Target): readonly Replica[]
  /** A hostile MCP server stands beside the others for so long, and its tool is called. */
  sufferServer(kind: HostileKind, ms: number): Promise<void>
  /** Kills nats-server and damages its session log before it starts again. */
  corrupt(fault: CorruptFault): Promise<void>
  /** Whether the run itself was connected at a time, in epoch milliseconds: it may notice a loss as the host does. */
  hasConnected(at: number): boolean
  /** The calls that reached the MCP servers. */
  journal(): Promise<JournalEntry[]>
}

export async function startFleet({
  folder,
  natsServers,
  instances,
  hasSmallDisks = false,
}: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  // Unmounted once nothing runs any more.
  const disksOpen = stack.use(new AsyncDisposableStack())
  const guardian = stack.use(new Guardian())
  const journalFile = join(folder, 'journal.jsonl')
  await writeFile(journalFile, '')
  const mcpJson = join(folder, 'mcp.json')
  const [one, every] = SERVERS
  const server = toolServer(TOOLS, journalFile)
  const servers = { [one]: server, [every]: { ...server, placement: 'every' } }
  const writeServers = async (more: object): Promise<void> => {
    // Half a file is not to be read.
    await writeFile(`${mcpJson}.new`, JSON.stringify({ servers: { ...servers, ...more } }))
    await rename(`${mcpJson}.new`, mcpJson)
  }
  await writeServers({})
  await mkdir(join(folder, 'run'))

  const natsFolders = Array.from({ length: natsServers }, (_, index) =>
    join(folder, 'nats', String(index)),
  )
  const disks = hasSmallDisks
    ? await Promise.all(natsFolders.map(async () => disksOpen.use(await smallDisk(DISK_MEGABYTES))))
    : []
  const { natsUrl, nodes } = await startNats(guardian, natsFolders, disks)
  const gatewayPorts = await Promise.all(Array.from({ length: instances }, freePort))
  const urls = gatewayPorts.map((port) => `http://127.0.0.1:${port}`)
  const services = await Promise.all(
    SERVICES.map(async (name) => {
      const replicas = gatewayPorts.map((port, index) =>
        Replica.start(`${name}-${index}`, async () => {
          const { process: started } = await startService(guardian, {
            name,
            instance: `${name}-${index}`,
            folder: join(folder, 'run'),
            env: {
              PATH: process.env['PATH'],
              NATS_URL: natsUrl,
              NATS_REPLICAS: String(natsServers),
              MCP_JSON_PATH: mcpJson,
              // A gateway comes back where clients look for it.
              PORT: String(port),
              DEMO_SCRIPTED: 'true',
              LLM_PROVIDER: 'demo',
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
  for (const url of urls) {
    await eventually(() => isReady(url, SERVERS.length * TOOLS.length), { what: 'a ready host' })
  }
  const connected: { from: number; to: number }[] = []
  const open = stack.move()
  return {
    urls,
    natsUrl,
    natsServers,
    replicas: (target) => all.get(target) ?? [],
    async sufferServer(kind, ms) {
      await using own = new Guardian()
      await writeServers({ [HOSTILE]: await hostileServer(own, kind) })
      const [url = ''] = urls
      await callHostileServer({ url, name: HOSTILE, kind }, AbortSignal.timeout(ms))
      await writeServers({})
    },
    async corrupt({ damage, downMs }) {
      if (damage.how === 'delete') {
        const from = Date.now()
        await fillBlock(natsUrl)
        connected.push({ from, to: Date.now() })
        await delay(NEW_BLOCK_MS)
      }
      const dataDir = disks[0]?.path ?? natsFolders[0] ?? ''
      await nodes[0]?.suffer({ kind: 'kill', downMs }, () => damageLog(dataDir, damage))
    },
    hasConnected: (at) => connected.some(({ from, to }) => at >= from && at <= to),
    journal: () => readJournal(journalFile),
    async [Symbol.asyncDispose]() {
      // From here on processes may end.
      for (const replica of [...all.values()].flat()) replica.release()
      await open.disposeAsync()
    },
  }
}

async function startNats(
  guardian: Guardian,
  folders: readonly string[],
  disks: readonly SmallDisk[],
): Promise<{ natsUrl: string; nodes: Replica[] }> {
  const count = folders.length
  const token = crypto.randomUUID()
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
      ...(count > 1 ? { cluster } : {}),
    })
    // One that comes back first has to learn what it missed: only then may the next be struck.
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
  const natsUrl = clients.map((port) => `nats://${token}@127.0.0.1:${port}`).join(',')
  return { natsUrl, nodes }
}

async function fillBlock(url: string): Promise<void> {
  const silent = { info: () => {}, warn: () => {}, error: () => {} }
  await using bus = await connectBus({ url, name: 'chaos', logger: silent })
  await beginBlock(bus)
}

async function isHealthy(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined)
  return response?.ok === true
}
