import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createKey, eventually, family, startStack, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { installPackages } from '../../tools/host/install-packages.ts'
import { HttpClient } from './http-client.ts'
import type { McpClient } from './mcp-client.ts'
import { SseClient } from './sse-client.ts'
import { StdioClient } from './stdio-client.ts'

const SERVER = join(import.meta.dirname, '..', 'host', 'echo-server.ts')
/** The command of the server behind all targets but `http`. */
const PROGRAM = [process.execPath, SERVER] as const

/** Published gateways and their versions. */
const PEERS = { 'mcp-hub': '4.2.1', 'mcp-proxy': '6.7.19', supergateway: '4.0.0' }

/** A way to call the tool. */
export interface Target {
  readonly name: string
  /** Whether the host is compared with it. The others show the lower bounds. */
  readonly isPeer: boolean
  /** Opens a session on a separate connection. */
  connect(): Promise<McpClient>
  /** The current processes by pid, with their names; the name of the MCP server is `server`. */
  processes(): Promise<ReadonlyMap<number, string>>
}

/** Starts all targets, which end with the stack. Installs the peers from npm on the first run. */
export async function startTargets(stack: AsyncDisposableStack): Promise<Target[]> {
  const guardian = stack.use(new Guardian())
  const versions = Object.values(PEERS).join('-')
  const folder = await installPackages(`bench-peers-${versions}`, PEERS)
  const config = join(folder, 'mcp-hub.json')
  const [command, ...args] = PROGRAM
  await writeFile(config, JSON.stringify({ mcpServers: { echo: { command, args } } }))

  /** Starts a Node program that serves MCP at `/mcp` of a port. */
  const start = async (
    name: string,
    programArgs: (port: string) => readonly string[],
    open: (url: string) => Promise<McpClient> = (url) => HttpClient.open(url, 'echo'),
  ): Promise<Target> => {
    const port = String(await freePort())
    const { pid, stdout } = await spawnGuarded(guardian, {
      command: process.execPath,
      args: [...programArgs(port)],
      cwd: import.meta.dirname,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdin: 'ignore',
      stderr: 'ignore',
    })
    stdout?.resume()
    const connect = (): Promise<McpClient> => open(`http://127.0.0.1:${port}/mcp`)
    await eventually(() => works(connect), { what: name, limitMs: 60_000 })
    const isPeer = Object.hasOwn(PEERS, name)
    return { name, isPeer, connect, processes: () => treeOf(pid, isPeer ? name : 'server') }
  }
  const startPeer = (
    name: keyof typeof PEERS,
    peerArgs: (port: string) => readonly string[],
    open?: (url: string) => Promise<McpClient>,
  ): Promise<Target> =>
    start(name, (port) => [join(folder, 'node_modules', '.bin', name), ...peerArgs(port)], open)

  return [
    await startStdio(stack),
    await start('http', (port) => [join(import.meta.dirname, 'http-server.ts'), port]),
    await startPeer(
      'mcp-hub',
      (port) => ['--port', port, '--config', config],
      (url) => SseClient.open(url, 'echo__echo'),
    ),
    await startPeer('mcp-proxy', (port) => [
      '--host=127.0.0.1',
      `--port=${port}`,
      '--server=stream',
      '--',
      ...PROGRAM,
    ]),
    await startPeer('supergateway', (port) => [
      `--stdio=${PROGRAM.join(' ')}`,
      '--outputTransport=streamableHttp',
      '--stateful',
      '--logLevel=none',
      `--port=${port}`,
    ]),
    await startHost(stack),
  ]
}

/** The MCP server itself, over its pipes. All callers share one session. */
async function startStdio(stack: AsyncDisposableStack): Promise<Target> {
  const client = await StdioClient.open(PROGRAM)
  stack.defer(() => client.close())
  const shared = { call: (text: string) => client.call(text), close: async () => undefined }
  return {
    name: 'stdio',
    isPeer: false,
    connect: async () => shared,
    processes: async () => new Map([[client.pid, 'server']]),
  }
}

/** The host, and the same with all that a host on a network has: authentication, policy, limits, audit log. */
export async function startSecuredPair(stack: AsyncDisposableStack): Promise<readonly Target[]> {
  return [await startHost(stack), await startHost(stack, { isSecured: true })]
}

/** The host, and the same with an account at nats-server for each service. */
export async function startAccountsPair(stack: AsyncDisposableStack): Promise<readonly Target[]> {
  return [
    await startHost(stack, { hasAccounts: false }),
    await startHost(stack, { hasAccounts: true }),
  ]
}

/** A policy of a few rules, the last of which matches. */
const POLICY = {
  rules: [
    { roles: 'admin', effect: 'allow' },
    { tool: 'delete_*', effect: 'deny' },
    { server: 'echo', tool: 'echo', arguments: { text: '*' }, effect: 'allow' },
  ],
  default: 'deny',
}

/** All services of the host as separate processes, with nats-server, as shipped. */
async function startHost(
  stack: AsyncDisposableStack,
  { isSecured = false, hasAccounts = false } = {},
): Promise<Target> {
  const folder = stack.use(await testFolder()).path
  const policy = join(folder, 'policy.json')
  await writeFile(policy, JSON.stringify(POLICY))
  const env = {
    AUTH: 'keys',
    POLICY_CONFIG: policy,
    LIMIT_ADDRESS: '1000000/s',
    LIMIT_REQUESTS: '1000000/s',
    LIMIT_TOOL_CALLS: '1000000/s',
  }
  const host = stack.use(await startStack({ hasAccounts, ...(isSecured ? { env } : {}) }))
  const [command, ...args] = PROGRAM
  await writeFile(host.mcpJson, JSON.stringify({ servers: { echo: { command, args } } }))
  const bus = await host.broker.connect()
  const { authorization } = await createKey(bus, 'user:bench')
  const header = isSecured ? `authorization: ${authorization}\r\n` : ''
  const connect = (): Promise<McpClient> => HttpClient.open(`${host.url}/mcp`, 'echo__echo', header)
  await eventually(() => works(connect), { what: 'the host', limitMs: 60_000 })
  const processes = async (): Promise<Map<number, string>> => {
    const trees = Object.entries(host.pids()).map(async ([name, pid]) => [
      ...(await treeOf(pid, name)),
    ])
    return new Map((await Promise.all(trees)).flat())
  }
  const suffix = isSecured ? ', secured' : hasAccounts ? ', accounts' : ''
  const name = `mcp-host${suffix}`
  return { name, isPeer: false, connect, processes }
}

/** A process and its descendants. A descendant that runs the MCP server is named `server`. */
async function treeOf(root: number, name: string): Promise<Map<number, string>> {
  const entries = (await family(root)).map(async (pid) => {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return [pid, pid !== root && command.includes(SERVER) ? 'server' : name] as const
  })
  return new Map(await Promise.all(entries))
}

async function works(connect: () => Promise<McpClient>): Promise<boolean> {
  const late = delay(2_000).then(() => {
    throw new Error('it takes too long')
  })
  try {
    const client = await Promise.race([connect(), late])
    await client.call('ready')
    await client.close()
    return true
  } catch {
    return false
  }
}
