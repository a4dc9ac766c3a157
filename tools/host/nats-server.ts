import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Guardian, GuardedProcess } from 'mcp-host/process'
import { spawnGuarded, stopProcess } from 'mcp-host/process'

const START_LIMIT_MS = 15_000

export interface NatsServer {
  /** With its token: to be kept secret. */
  readonly url: string
  readonly port: number
  readonly process: GuardedProcess
  stop(): Promise<void>
}

export interface NatsServerOptions {
  readonly bin: string
  readonly dataDir: string
  /** Default: a free one. */
  readonly port?: number
  readonly token?: string
  /** Makes it one of several that keep the same data. */
  readonly cluster?: {
    /** Its name in the cluster. */
    readonly name: string
    /** Where it listens for the others. */
    readonly port: number
    /** Where all of them listen. */
    readonly ports: readonly number[]
    /** Where it answers `/healthz`. */
    readonly healthPort: number
  }
}

/** A nats-server with JetStream on loopback, which only those who are given its URL can use. */
export async function startNatsServer(
  guardian: Guardian,
  { bin, dataDir, port: wanted, token = crypto.randomUUID(), cluster }: NatsServerOptions,
): Promise<NatsServer> {
  const port = wanted ?? (await freePort())
  await mkdir(dataDir, { recursive: true })
  const configFile = join(dataDir, 'nats-server.conf')
  const config = {
    listen: `127.0.0.1:${port}`,
    jetstream: { store_dir: dataDir },
    authorization: { token },
    log_file: join(dataDir, 'nats-server.log'),
    // Three are kept beside the one that is written.
    logfile_size_limit: 20 * 1024 * 1024,
    logfile_max_num: 4,
    ...(cluster === undefined ? {} : clusterConfig(cluster, token)),
  }
  // JSON is valid nats-server configuration; the token must not be seen in the process list.
  const text = JSON.stringify(config, undefined, 2)
  // A restart on a full disk finds it as it is.
  if ((await readFile(configFile, 'utf8').catch(() => '')) !== text) {
    await writeFile(configFile, text, { mode: 0o600 })
  }
  const child = await spawnGuarded(guardian, {
    command: bin,
    args: ['-c', configFile],
    cwd: dataDir,
    env: { PATH: process.env['PATH'] },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const stop = async (): Promise<void> => void (await stopProcess(child, { graceMs: 5_000 }))
  if (!(await listens(port, child))) {
    await stop()
    throw new Error(`nats-server did not start; see ${config.log_file}`)
  }
  return { url: `nats://${token}@127.0.0.1:${port}`, port, process: child, stop }
}

function clusterConfig(
  { name, port, ports, healthPort }: NonNullable<NatsServerOptions['cluster']>,
  token: string,
): object {
  return {
    server_name: name,
    http: `127.0.0.1:${healthPort}`,
    cluster: {
      name: 'mcp-host',
      listen: `127.0.0.1:${port}`,
      authorization: { user: 'route', password: token },
      routes: ports.map((each) => `nats-route://route:${token}@127.0.0.1:${each}`),
    },
  }
}

async function listens(port: number, child: GuardedProcess): Promise<boolean> {
  let hasEnded = false
  void child.exited.then(() => {
    hasEnded = true
  })
  const giveUpAt = Date.now() + START_LIMIT_MS
  while (!hasEnded && Date.now() < giveUpAt) {
    if (await canConnect(port)) return true
    await delay(10)
  }
  return false
}

function canConnect(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket.once('data', () => resolve(true))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
