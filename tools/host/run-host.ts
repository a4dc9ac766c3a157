import { join } from 'node:path'
import { canSharePort, gatewaySettings } from '@mcp-host/gateway/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Settings } from '@mcp-host/service'
import { baseSettings, loadConfig } from '@mcp-host/service'
import { Guardian } from 'mcp-host/process'
import type { Say } from './keep-running.ts'
import { keepRunning } from './keep-running.ts'
import type { NatsServer } from './nats-server.ts'
import { freePort, startNatsServer } from './nats-server.ts'
import { removeRunFile, writeRunFile } from './run-file.ts'
import type { ServiceName } from './service-process.ts'
import { SERVICES, startService } from './service-process.ts'
import type { Env } from './read-env.ts'
import { watchStorage } from './watch-storage.ts'

/** A successor that takes longer to start is not waited for. */
const SUCCESSOR_LIMIT_MS = '30000'

export interface HostOptions {
  readonly env: Env
  readonly dataDir: string
  /** The nats-server program; not needed when `NATS_URL` is set. */
  readonly natsServerBin: string | undefined
  readonly say: Say
  /** Gives up starting. */
  readonly signal: AbortSignal
}

export interface RunningHost extends AsyncDisposable {
  /** Of the gateway. */
  readonly url: string
  /** May hold credentials. */
  readonly natsUrl: string
}

/** Starts nats-server and the services, starts again what dies, and stops all when disposed. */
export async function runHost({
  env,
  dataDir,
  natsServerBin,
  say,
  signal,
}: HostOptions): Promise<RunningHost> {
  await using stack = new AsyncDisposableStack()
  // Whatever happens to this process: nothing outlives it.
  const guardian = stack.use(new Guardian())
  const processes = new Map<string, { name: string; pid: number; url?: string }>()
  const note = async (): Promise<void> => {
    const url = processes.get('gateway')?.url ?? ''
    await writeRunFile(dataDir, { pid: process.pid, url, processes: [...processes.values()] })
  }
  const noteAgain = async (): Promise<void> => {
    try {
      await note()
    } catch (error) {
      // As on a full disk: other commands find what ran before; the next restart writes it again.
      say('warning', `run.json is not up to date: ${String(error)}`)
    }
  }
  stack.defer(() => removeRunFile(dataDir))

  const natsFolder = join(dataDir, 'nats')
  let broker: NatsServer | undefined
  const natsUrl = env['NATS_URL'] || (await startBroker())
  const port = env['PORT'] === '0' ? String(await freePort()) : env['PORT']
  const others = SERVICES.filter((name) => name !== 'gateway')
  const services = stack.use(new Together())
  // Used last and so closed first: clients are sent away before there is nobody to serve them.
  const edge = stack.use(new Together())
  await unless(signal, [keep('gateway', edge), ...others.map((name) => keep(name, services))])
  say('services', SERVICES.join(', '))
  await note()
  if (broker !== undefined) stack.use(watchStore())
  const open = stack.move()
  return {
    url: processes.get('gateway')?.url ?? '',
    natsUrl,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }

  async function startBroker(): Promise<string> {
    if (natsServerBin === undefined) {
      throw new Error('nats-server was not found; set NATS_SERVER_BIN or NATS_URL')
    }
    // The same address and token for its successors, so that the services find them.
    const options = {
      bin: natsServerBin,
      dataDir: natsFolder,
      port: await freePort(),
      token: crypto.randomUUID(),
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
        },
        say,
      }),
    )
    broker = keeper.first
    remember(broker.process.pid)
    say('nats-server', `127.0.0.1:${options.port}, data in ${natsFolder}`)
    return broker.url
  }

  function watchStore(): AsyncDisposable {
    const { storeMinFreeMb } = loadConfig(baseSettings, env)
    return watchStorage({
      folder: natsFolder,
      minFreeBytes: storeMinFreeMb * 1024 * 1024,
      urls: () => [...processes.values()].flatMap(({ url }) => url ?? []),
      // Its keeper starts it again.
      restart: async () => broker?.stop(),
      say,
    })
  }

  async function keep(name: ServiceName, together: Together): Promise<void> {
    const folder = join(dataDir, 'processes')
    const own = {
      ...environmentOf(name, env),
      NATS_URL: natsUrl,
      PORT: port,
      ...(broker === undefined ? {} : { STORE_DIR: natsFolder }),
      SUCCESSOR_LIMIT_MS: env['SUCCESSOR_LIMIT_MS'] || SUCCESSOR_LIMIT_MS,
    }
    const remember = ({ pid, url }: { pid: number; url: string }): unknown =>
      processes.set(name, { name, pid, url })
    const keeper = await keepRunning({
      name,
      start: () => startService(guardian, { name, env: own, folder }),
      canOverlap: name !== 'gateway' || canSharePort,
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

/** Things that are closed at the same time, also those that are added when it is too late. */
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

/** All of them, or as soon as the signal aborts its reason as an error. */
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

const SETTINGS: Partial<Record<ServiceName, Settings>> = {
  gateway: gatewaySettings,
  orchestrator: orchestratorSettings,
}

/**
 * The environment of a service: its own settings only, which keeps secrets from services that do not need them. The
 * supervisor and the worker get all of it, because mcp.json and llm.json may name any variable, and may change while
 * they run.
 */
function environmentOf(service: ServiceName, env: Env): Env {
  const settings = SETTINGS[service]
  if (settings === undefined) return env
  const names = [...Object.values(baseSettings), ...Object.values(settings)].flatMap(
    ({ env: own, aliases = [] }) => [own, ...aliases],
  )
  const system = ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR', 'NODE_EXTRA_CA_CERTS']
  return Object.fromEntries([...system, ...names].map((each) => [each, env[each]]))
}
