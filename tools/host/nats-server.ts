import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ACCOUNTS } from '@mcp-host/contracts'
import type { GuardedProcess, Guardian } from '@mcp-host/process'
import { spawnGuarded, stopProcess } from '@mcp-host/process'
import { freePort } from './listen.ts'
import { untilStarted } from './until-started.ts'

const START_LIMIT_MS = 15_000

export interface NatsServer {
  /** The URL with the token, which is secret. */
  readonly url: string
  readonly port: number
  readonly process: GuardedProcess
  stop(): Promise<void>
}

export interface NatsServerOptions {
  readonly bin: string
  readonly dataDir: string
  /** The port. Default: a free one. */
  readonly port?: number
  readonly token?: string
  /** The limit of its data, of which limited buckets reserve their part. Default: the disk alone limits it. */
  readonly maxBytes?: number
  /** Accounts in place of the token; see `accountsConfig` of the bus. */
  readonly accounts?: object | undefined
  /** TLS files for clients, in PEM. */
  readonly tls?: { readonly cert_file: string; readonly key_file: string; readonly ca_file: string }
  /** Makes the server a member of a cluster that replicates the data. */
  readonly cluster?: {
    /** Name of this server in the cluster. */
    readonly name: string
    /** The port for the other servers. */
    readonly port: number
    /** The ports for other servers of all members. */
    readonly ports: readonly number[]
    /** The port of `/healthz`. */
    readonly healthPort: number
  }
}

/**
 * Starts a nats-server with JetStream on loopback. Its URL contains the token that clients need, unless the server has
 * accounts.
 */
export async function startNatsServer(
  guardian: Guardian,
  options: NatsServerOptions,
): Promise<NatsServer> {
  const {
    bin,
    dataDir,
    port: wanted,
    token = crypto.randomUUID(),
    maxBytes = Number.MAX_SAFE_INTEGER,
    accounts,
    tls,
    cluster,
  } = options
  const port = wanted ?? (await freePort())
  await mkdir(dataDir, { recursive: true })
  const configFile = join(dataDir, 'nats-server.conf')
  const config = {
    listen: `127.0.0.1:${port}`,
    jetstream: { store_dir: dataDir, max_file_store: maxBytes },
    ...(accounts === undefined ? { authorization: { token } } : { accounts }),
    ...(tls === undefined ? {} : { tls }),
    log_file: join(dataDir, 'nats-server.log'),
    // The current file and three older ones.
    logfile_size_limit: 20 * 1024 * 1024,
    logfile_max_num: 4,
    ...(cluster === undefined ? {} : clusterConfig(cluster, token)),
  }
  // JSON is a valid configuration of nats-server. A file keeps the token out of the list of processes.
  const text = JSON.stringify(config, undefined, 2)
  // On a full disk a restart can only use the file that exists.
  if ((await readFile(configFile, 'utf8').catch(() => '')) !== text) {
    await writeFile(configFile, text, { mode: 0o600 })
  }
  await moveStreams(dataDir, accounts === undefined ? NO_ACCOUNT : STORE_ACCOUNT)
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
  if ((await untilStarted(child, START_LIMIT_MS, () => canConnect(port))) === undefined) {
    await stop()
    throw new Error(`nats-server did not start; see ${config.log_file}`)
  }
  const credential = accounts === undefined ? `${token}@` : ''
  return { url: `nats://${credential}127.0.0.1:${port}`, port, process: child, stop }
}

/** The folders of the streams with and without accounts. */
const STORE_ACCOUNT = ACCOUNTS.tools
const NO_ACCOUNT = '$G'

/** Moves the streams to the account that owns them, after the accounts were turned on or off. */
async function moveStreams(dataDir: string, account: string): Promise<void> {
  const folder = join(dataDir, 'jetstream')
  const other = account === NO_ACCOUNT ? STORE_ACCOUNT : NO_ACCOUNT
  if (!existsSync(join(folder, other)) || existsSync(join(folder, account))) return
  await rename(join(folder, other), join(folder, account))
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

/** `true` once the server has greeted a client. */
function canConnect(port: number): Promise<true | undefined> {
  const { promise, resolve } = Promise.withResolvers<true | undefined>()
  const socket = connect(port, '127.0.0.1')
  socket.once('data', () => resolve(true))
  socket.once('error', () => resolve(undefined))
  return promise.finally(() => socket.destroy())
}
