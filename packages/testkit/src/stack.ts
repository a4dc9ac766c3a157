import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { providers, variablePrefix } from '@mcp-host/llm-worker/providers'
import type { ServiceName, ServiceProcess } from '@mcp-host/tools/host'
import { SERVICES, startService } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import type { Broker } from './broker.ts'
import { startBroker } from './broker.ts'
import { eventually } from './eventually.ts'
import type { JournalEntry } from './journal.ts'
import { readJournal } from './journal.ts'
import { isReady } from './ready.ts'
import { testDist } from './test-dist.ts'
import { movedClock } from './moved-clock.ts'
import { testFolder } from './test-folder.ts'
import type { ToolScript } from './tool-server.ts'
import { toolServer } from './tool-server.ts'

export interface StackOptions {
  /** Tools of the one MCP server, `test`, which records each call in its journal. */
  readonly tools?: readonly ToolScript[]
  /** Additional servers with the same tools: the fields of their `mcp.json` entries, by name. */
  readonly servers?: Readonly<Record<string, object>>
  /** The number of tools of all servers, where some servers have other tools. */
  readonly toolCount?: number
  /** Whether each service has its own account at nats-server; see `BrokerOptions`. */
  readonly hasAccounts?: boolean
  /** Folder of the broker's data; by default a folder of its own. */
  readonly brokerFolder?: string
  /** Folder with the programs of `npm run build`; by default `testDist`. */
  readonly dist?: string
  /** Additional settings of all services. */
  readonly env?: Readonly<Record<string, string>>
  /** How far the clocks of services are ahead, in milliseconds. */
  readonly clockOffsetsMs?: Readonly<Partial<Record<ServiceName, number>>>
}

/** The whole host as separate processes, with a nats-server of its own. */
export interface Stack extends AsyncDisposable {
  readonly broker: Broker
  /** Path of the `mcp.json`. */
  readonly mcpJson: string
  /** The URL of the first gateway. */
  readonly url: string
  /** The URL at which a service answers `/health` and `/metrics`. */
  urlOf(name: ServiceName): string
  /** Process ids by name, including nats-server. */
  pids(): Record<string, number>
  /** Starts another process of a service, with settings of its own. */
  add(name: ServiceName, own?: Readonly<Record<string, string>>): Promise<ServiceProcess>
  /** Kills a service with SIGKILL. */
  kill(name: ServiceName): Promise<void>
  /** Stops a service with SIGTERM; resolves when it has ended. */
  stop(name: ServiceName): Promise<void>
  /** Starts a service again that was killed or stopped. */
  restart(name: ServiceName): Promise<void>
  /** The tool calls that reached the MCP server, in order. */
  journal(): Promise<JournalEntry[]>
  /** How many of the calls were cancelled. */
  cancels(): Promise<number>
  /** The log of a service. */
  log(name: ServiceName): Promise<string>
  /** The logs of all processes of services, also of those that were added or have ended. */
  logs(): Promise<string>
}

/** Settings that make providers unreachable, so that no test uses a provider outside of the test. */
const unreachableProviders = Object.fromEntries(
  Object.entries(providers)
    .filter(([, { baseUrl = '' }]) => baseUrl !== '')
    .map(([name]) => [`${variablePrefix(name)}_BASE_URL`, 'http://127.0.0.1:1']),
)

export async function startStack({
  tools = [],
  servers: more = {},
  toolCount: expected,
  hasAccounts,
  dist = testDist(),
  brokerFolder,
  env = {},
  clockOffsetsMs = {},
}: StackOptions = {}): Promise<Stack> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await testFolder())
  const guardian = stack.use(new Guardian())
  const broker = stack.use(
    await startBroker({
      ...(hasAccounts === undefined ? {} : { hasAccounts }),
      ...(brokerFolder === undefined ? {} : { folder: brokerFolder }),
    }),
  )
  const journalFile = join(folder.path, 'journal.jsonl')
  await writeFile(journalFile, '')
  const mcpJson = join(folder.path, 'mcp.json')
  const names = tools.length === 0 ? [] : ['test', ...Object.keys(more)]
  const servers = Object.fromEntries(
    names.map((name) => [name, { ...toolServer(tools, journalFile), ...more[name] }]),
  )
  const toolCount = expected ?? tools.length * names.length
  await writeFile(mcpJson, JSON.stringify({ servers }))
  await mkdir(join(folder.path, 'run'))

  const processes = new Map<ServiceName, ServiceProcess>()
  let instances = 0
  const start = (name: ServiceName, port: string, own = {}): Promise<ServiceProcess> =>
    startService(guardian, {
      name,
      dist,
      instance: `${name}-${instances++}`,
      folder: join(folder.path, 'run'),
      env: {
        PATH: process.env['PATH'],
        NATS_URL: broker.url,
        NATS_NKEY_SEED_FILE: broker.seedFile(name),
        MCP_JSON_PATH: mcpJson,
        PORT: port,
        DEMO_SCRIPTED: 'true',
        DEMO_TOKENS_PER_SECOND: '0',
        LLM_CONFIG: 'none',
        BUNDLES_CONFIG: 'none',
        // Tests find the processes of servers by the pids that those report.
        SANDBOX: 'none',
        ...unreachableProviders,
        ...movedClock(clockOffsetsMs[name]),
        ...env,
        ...own,
      },
    })
  await Promise.all(SERVICES.map(async (name) => processes.set(name, await start(name, '0'))))
  const url = processes.get('gateway')?.url ?? ''
  await eventually(() => isReady(url, toolCount), { what: 'a ready host' })
  const open = stack.move()
  return {
    broker,
    mcpJson,
    url,
    urlOf: (name) => processes.get(name)?.url ?? '',
    pids: () => ({
      'nats-server': broker.pid(),
      ...Object.fromEntries(Array.from(processes, ([name, { pid }]) => [name, pid])),
    }),
    add: (name, own) => start(name, '0', own),
    async kill(name) {
      const victim = processes.get(name)
      victim?.process.signal('SIGKILL')
      await victim?.process.gone
    },
    async stop(name) {
      const service = processes.get(name)
      service?.process.signal('SIGTERM')
      await service?.process.gone
    },
    async restart(name) {
      // A gateway restarts on the port that clients know.
      processes.set(name, await start(name, name === 'gateway' ? new URL(url).port : '0'))
      await eventually(() => isReady(url, toolCount), { what: 'a ready host' })
    },
    journal: () => readJournal(journalFile),
    async cancels() {
      const text = await readFile(`${journalFile}.cancelled`, 'utf8').catch(() => '')
      return text.split('"notifications/cancelled"').length - 1
    },
    async log(name) {
      const { pid } = processes.get(name) ?? {}
      for (let instance = instances; instance >= 0; instance--) {
        const file = join(folder.path, 'run', `${name}-${instance}.log`)
        const text = await readFile(file, 'utf8').catch(() => undefined)
        if (text?.includes(`"pid":${pid}`) === true) return text
      }
      return ''
    },
    async logs() {
      const run = join(folder.path, 'run')
      const files = (await readdir(run)).filter((file) => file.endsWith('.log'))
      const texts = await Promise.all(files.map((file) => readFile(join(run, file), 'utf8')))
      return texts.join('\n')
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}
