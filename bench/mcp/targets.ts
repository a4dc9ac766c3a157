import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@mcp-host/tools/host'
import { eventually, startStack } from '@mcp-host/testkit'
import { Guardian, spawnGuarded } from 'mcp-host/process'
import { HttpClient } from './http-client.ts'
import type { McpClient } from './mcp-client.ts'
import { commandOf, processTree } from './process-tree.ts'
import { SseClient } from './sse-client.ts'
import { StdioClient } from './stdio-client.ts'

const SERVER = join(import.meta.dirname, '..', 'host', 'echo-server.ts')
const HTTP_SERVER = join(import.meta.dirname, 'http-server.ts')
/** The server that all of them pass calls on to. */
const PROGRAM = [process.execPath, SERVER]

/** What people use today, as published. */
const PEERS = { 'mcp-hub': '4.2.1', 'mcp-proxy': '6.7.19', supergateway: '4.0.0' }
type Peer = keyof typeof PEERS

/** Something that is asked to call a tool. */
export interface Target extends AsyncDisposable {
  readonly name: string
  /** Whether it is one of those to be compared with; else it shows what is possible. */
  readonly isPeer: boolean
  /** A session of its own, on a connection of its own. */
  connect(): Promise<McpClient>
  /** Processes by what they are, as they are now; the server behind it is `server`. */
  processes(): ReadonlyMap<number, string>
}

/** All of them on this machine, ready. Peers are installed from npm when they are not there yet. */
export async function startTargets(guardian: Guardian): Promise<Target[]> {
  const bin = await installPeers()
  const peer = async (
    name: Peer,
    path: string,
    args: (port: string) => readonly string[],
    connect: (url: string) => Promise<McpClient>,
  ): Promise<Target> => {
    const port = String(await freePort())
    const program = await spawnGuarded(guardian, {
      command: process.execPath,
      args: [join(bin, name), ...args(port)],
      cwd: import.meta.dirname,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdin: 'ignore',
      stderr: 'ignore',
    })
    program.stdout?.resume()
    const url = `http://127.0.0.1:${port}${path}`
    await eventually(() => works(() => connect(url)), { what: name, limitMs: 60_000 })
    return {
      name,
      isPeer: true,
      connect: () => connect(url),
      processes: () => treeOf(program.pid, name),
      async [Symbol.asyncDispose]() {
        program.signal('SIGKILL')
        await program.gone
      },
    }
  }
  const config = join(await peersFolder(), 'mcp-hub.json')
  const [command = '', ...args] = PROGRAM
  await writeFile(config, JSON.stringify({ mcpServers: { echo: { command, args } } }))
  return [
    await directStdio(),
    await directHttp(guardian),
    await peer(
      'mcp-hub',
      '/mcp',
      (port) => ['--port', port, '--config', config],
      (url) => SseClient.open(url, 'echo__echo'),
    ),
    await peer(
      'mcp-proxy',
      '/mcp',
      (port) => ['--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', ...PROGRAM],
      (url) => HttpClient.open(url, 'echo'),
    ),
    await peer(
      'supergateway',
      '/mcp',
      (port) => [
        '--stdio',
        PROGRAM.join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--logLevel',
        'none',
        '--port',
        port,
      ],
      (url) => HttpClient.open(url, 'echo'),
    ),
    await ourselves(),
  ]
}

async function directStdio(): Promise<Target> {
  const client = await StdioClient.open(PROGRAM)
  const shared = { call: (text: string) => client.call(text), close: async () => undefined }
  return {
    name: 'stdio',
    isPeer: false,
    connect: async () => shared,
    processes: () => new Map([[client.pid, 'server']]),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

async function directHttp(guardian: Guardian): Promise<Target> {
  const port = String(await freePort())
  const program = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [HTTP_SERVER, port],
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'] },
    stdin: 'ignore',
    stderr: 'inherit',
  })
  const url = `http://127.0.0.1:${port}/mcp`
  const connect = (): Promise<McpClient> => HttpClient.open(url, 'echo')
  await eventually(() => works(connect), { what: 'the server over HTTP', limitMs: 60_000 })
  return {
    name: 'http',
    isPeer: false,
    connect,
    processes: () => new Map([[program.pid, 'server']]),
    async [Symbol.asyncDispose]() {
      program.signal('SIGKILL')
      await program.gone
    },
  }
}

/** All services as separate processes, with nats-server between, as they are shipped. */
async function ourselves(): Promise<Target> {
  const stack = await startStack()
  const [command, ...args] = PROGRAM
  await writeFile(stack.mcpJson, JSON.stringify({ servers: { echo: { command, args } } }))
  const connect = (): Promise<McpClient> => HttpClient.open(`${stack.url}/mcp`, 'echo__echo')
  await eventually(() => works(connect), { what: 'our own host', limitMs: 60_000 })
  return {
    name: 'mcp-host',
    isPeer: false,
    connect,
    processes() {
      const found = new Map<number, string>()
      for (const [name, pid] of Object.entries(stack.pids())) {
        for (const [each, what] of treeOf(pid, name)) found.set(each, what)
      }
      return found
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  }
}

function treeOf(pid: number, name: string): Map<number, string> {
  return new Map(
    // Its own command line may name the server, too.
    processTree(pid).map((each) => [
      each,
      each !== pid && commandOf(each).includes(SERVER) ? 'server' : name,
    ]),
  )
}

async function works(connect: () => Promise<McpClient>): Promise<boolean> {
  try {
    const client = await Promise.race([
      connect(),
      sleep(2_000).then(() => {
        throw new Error('it takes too long')
      }),
    ])
    await client.call('ready')
    await client.close()
    return true
  } catch {
    return false
  }
}

async function peersFolder(): Promise<string> {
  const folder = join(
    process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
    'mcp-host',
    'bench-peers',
  )
  await mkdir(folder, { recursive: true })
  return folder
}

/** Answers with the folder of their programs. */
async function installPeers(): Promise<string> {
  const folder = await peersFolder()
  const bin = join(folder, 'node_modules', '.bin')
  const manifest = JSON.stringify({ private: true, dependencies: PEERS })
  const mark = join(folder, `${Buffer.from(manifest).toString('base64url').slice(-40)}.ok`)
  if (!existsSync(mark)) {
    console.log(`installing ${Object.keys(PEERS).join(', ')} from npm`)
    await writeFile(join(folder, 'package.json'), manifest)
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: folder,
    })
    await writeFile(mark, '')
  }
  return bin
}
