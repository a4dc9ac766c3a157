import { join } from 'node:path'
import { authMethods, baseSettings, canSharePort, loadConfig } from '@mcp-host/service'
import { Guardian } from '@mcp-host/process'
import { operatorKeySetting } from '@mcp-host/auth'
import { seedFileOf } from '@mcp-host/bus'
import { busCredentials, credentialsFolder } from './bus-credentials.ts'
import type { BrokerAddress } from './connect-quietly.ts'
import { createStreams } from './create-streams.ts'
import { credentialOf } from './nats-credential.ts'
import type { Say } from './keep-running.ts'
import { keepRunning } from './keep-running.ts'
import { freePort } from './listen.ts'
import { ensureOperatorKey, ensureTokenKey } from './host-keys.ts'
import type { NatsServer } from './nats-server.ts'
import { startNatsServer } from './nats-server.ts'
import { publicUrl } from './public-url.ts'
import { removeRunFile, writeRunFile } from './run-file.ts'
import { sandboxPaths } from './sandbox-paths.ts'
import { serviceEnvironment } from './service-environment.ts'
import type { ServiceName } from './service-process.ts'
import { SERVICES, startService } from './service-process.ts'
import type { Env } from './read-env.ts'
import { root } from '../root.ts'
import { watchStorage } from './watch-storage.ts'

/** The time limit for the start of a successor. */
const SUCCESSOR_LIMIT_MS = '30000'

export interface HostOptions {
  readonly env: Env
  readonly dataDir: string
  /** The nats-server program; not needed when `NATS_URL` is set. */
  readonly natsServerBin: string | undefined
  /** The folder of the built services; by default they run from source. */
  readonly dist?: string | undefined
  readonly say: Say
  /** Aborts the start. */
  readonly signal: AbortSignal
}

export interface RunningHost extends AsyncDisposable {
  /** The URL of the gateway. */
  readonly url: string
  readonly broker: BrokerAddress
}

/** Starts nats-server and the services, restarts processes that end, and stops all when disposed. */
export async function runHost({
  env,
  dataDir,
  natsServerBin,
  dist,
  say,
  signal,
}: HostOptions): Promise<RunningHost> {
  await using stack = new AsyncDisposableStack()
  // The children end even if this process is killed.
  const guardian = stack.use(new Guardian())
  const { auth } = loadConfig({ auth: authMethods }, env)
  const processes = new Map<string, { name: string; pid: number; url?: string }>()
  const note = async (): Promise<void> => {
    const url = processes.get('gateway')?.url ?? ''
    await writeRunFile(dataDir, {
      pid: process.pid,
      url,
      publicUrl: publicUrl(env, url),
      auth,
      processes: [...processes.values()],
    })
  }
  const noteAgain = async (): Promise<void> => {
    try {
      await note()
    } catch (error) {
      // The file cannot be written, as on a full disk. Other commands read the previous one, and the next restart
      // writes it again.
      say('warning', `run.json is not up to date: ${String(error)}`)
    }
  }
  stack.defer(() => removeRunFile(dataDir))

  const natsFolder = join(dataDir, 'nats')
  let broker: NatsServer | undefined
  const { accounts, credential } = env['NATS_URL']
    ? { accounts: undefined, credential: credentialOf(env) }
    : await busCredentials(env, dataDir)
  const natsUrl = env['NATS_URL'] || (await startBroker())
  const port = env['PORT'] === '0' ? String(await freePort()) : env['PORT']
  const { opsPort = 0 } = loadConfig({ opsPort: baseSettings.opsPort }, env)
  const others = SERVICES.filter((name) => name !== 'gateway')
  const services = stack.use(new Together())
  // Opened last and so closed first: clients are sent away while the other services still work.
  const edge = stack.use(new Together())
  await unless(signal, [keep('gateway', edge), ...others.map((name) => keep(name, services))])
  say('services', SERVICES.join(', '))
  await note()
  if (broker !== undefined) stack.use(watchStore())
  const open = stack.move()
  return {
    url: processes.get('gateway')?.url ?? '',
    broker: { url: natsUrl, credential },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }

  async function startBroker(): Promise<string> {
    if (natsServerBin === undefined) {
      throw new Error('nats-server was not found; set NATS_SERVER_BIN or NATS_URL')
    }
    // The successors get the same address and token, so that the services find them.
    const options = {
      bin: natsServerBin,
      dataDir: natsFolder,
      port: await freePort(),
      token: crypto.randomUUID(),
      accounts,
    }
    const remember = (pid: number): unknown =>
      processes.set('nats-server', { name: 'nats-server', pid })
    const keeper = stack.use(
      await keepRunning({
        name: 'nats-server',
        start: () => startNatsServer(guardian, options),
        onRestart: (server) => {
          broker = server
          remember(server.process.pid)
          void noteAgain()
          void ensureStreams(server.url).catch((error: unknown) =>
            say('warning', `nats-server lacks streams: ${String(error)}`),
          )
        },
        say,
      }),
    )
    broker = keeper.first
    remember(broker.process.pid)
    say('nats-server', `127.0.0.1:${options.port}, data in ${natsFolder}`)
    await ensureStreams(broker.url)
    return broker.url
  }

  /** Without accounts, the services create missing streams. */
  async function ensureStreams(url: string): Promise<void> {
    if (accounts !== undefined) await createStreams(env, { url, credential })
  }

  function watchStore(): AsyncDisposable {
    const { storeMinFreeMb } = loadConfig(baseSettings, env)
    return watchStorage({
      folder: natsFolder,
      minFreeBytes: storeMinFreeMb * 1024 * 1024,
      urls: () => [...processes.values()].flatMap(({ url }) => url ?? []),
      // The keeper restarts the process.
      restart: async () => broker?.stop(),
      say,
    })
  }

  /** When clients authenticate, commands on this machine use a key. */
  async function operatorKey(): Promise<Env> {
    if (auth.includes('none')) return {}
    return { OPERATOR_KEY: operatorKeySetting(await ensureOperatorKey(dataDir)) }
  }

  async function keep(name: ServiceName, together: Together): Promise<void> {
    const folder = join(dataDir, 'processes')
    const own = {
      ...(name === 'mcp-supervisor' ? await ofSupervisor({ ...env, PORT: port }, dataDir) : {}),
      NATS_URL: natsUrl,
      PORT: port,
      ...(opsPort === 0 ? {} : { OPS_PORT: String(opsPort + SERVICES.indexOf(name)) }),
      ...(broker === undefined ? {} : { STORE_DIR: natsFolder }),
      ...(accounts === undefined
        ? {}
        : { NATS_NKEY_SEED_FILE: seedFileOf(credentialsFolder(dataDir), name) }),
      ...(name === 'gateway' ? await operatorKey() : {}),
      SUCCESSOR_LIMIT_MS: env['SUCCESSOR_LIMIT_MS'] || SUCCESSOR_LIMIT_MS,
    }
    const remember = ({ pid, url }: { pid: number; url: string }): unknown =>
      processes.set(name, { name, pid, url })
    const keeper = await keepRunning({
      name,
      // Read at each start, since mcp.json may name other variables by then.
      start: () =>
        startService(guardian, {
          name,
          dist,
          env: { ...serviceEnvironment(name, env), ...own },
          folder,
        }),
      canOverlap: canSharePort || (name !== 'gateway' && opsPort === 0),
      onRestart: (service) => {
        remember(service)
        void noteAgain()
      },
      say,
    })
    together.add(keeper)
    remember(keeper.first)
  }
}

/** The settings that a supervisor of this host has besides those that were given. */
async function ofSupervisor(env: Env, dataDir: string): Promise<Env> {
  return {
    ...sandboxPaths(env, root, dataDir),
    // By these users log in at MCP servers.
    PUBLIC_URL: publicUrl(env),
    TOKEN_ENC_KEY: env['TOKEN_ENC_KEY'] || (await ensureTokenKey(dataDir)),
  }
}

/** Things that are closed together, including those that are added during the closing. */
class Together implements AsyncDisposable {
  readonly #parts: AsyncDisposable[] = []
  #isClosed = false

  add(part: AsyncDisposable): void {
    this.#parts.push(part)
    if (this.#isClosed) void part[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#parts.map((part) => part[Symbol.asyncDispose]()))
  }
}

/** Awaits all promises. Rejects with the signal's reason as soon as it aborts. */
async function unless(signal: AbortSignal, work: readonly Promise<unknown>[]): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    await Promise.race([Promise.all(work), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
