import { mkdir, writeFile } from 'node:fs/promises'
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

/** A nats-server with JetStream on loopback, which only those who are given its URL can use. */
export async function startNatsServer(
  guardian: Guardian,
  {
    bin,
    dataDir,
    port: wanted,
    token = crypto.randomUUID(),
  }: { bin: string; dataDir: string; port?: number; token?: string },
): Promise<NatsServer> {
  const port = wanted ?? (await freePort())
  await mkdir(dataDir, { recursive: true })
  const configFile = join(dataDir, 'nats-server.conf')
  const config = {
    listen: `127.0.0.1:${port}`,
    jetstream: { store_dir: dataDir },
    authorization: { token },
    log_file: join(dataDir, 'nats-server.log'),
  }
  // JSON is valid nats-server configuration; the token must not be seen in the process list.
  await writeFile(configFile, JSON.stringify(config, undefined, 2), { mode: 0o600 })
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
