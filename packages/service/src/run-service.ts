import { rename, writeFile } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { baseSettings } from './base-settings.ts'
import { withConfigFile } from './config-file.ts'
import { collectWhenQuiet } from './collect-garbage.ts'
import { exposeBroker } from './broker-metrics.ts'
import type { Logger } from './logger.ts'
import { createLogger } from './logger.ts'
import type { OperationsDeps } from './operations.ts'
import { listenOperations } from './operations.ts'
import type { Config, CrossCheck, Settings } from './settings.ts'
import { ConfigError, loadConfig } from './settings.ts'
import { shareStorageFault } from './share-storage-fault.ts'
import type { ProxyFor } from '@mcp-host/upstream/proxy'
import { useProxies } from './use-proxies.ts'
import { aborted } from '@mcp-host/async'

/** Dependencies of a service. */
export interface ServiceDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly metrics: Registry
  readonly operations: OperationsDeps
  /** For requests that do not go by `fetch`, which has the proxies of the settings. */
  readonly proxyFor: ProxyFor
}

/** A running service. Disposing it closes everything it opened. */
export interface Service extends AsyncDisposable {
  /** The address of its server, if it has one, which also has the routes of `addOperations`. */
  readonly url?: string
  /** Takes no new work and finishes the work in flight. */
  drain(): Promise<void>
}

type Env = Readonly<Record<string, string | undefined>>

export interface RunServiceOptions<S extends Settings> {
  readonly name: string
  readonly settings: S
  readonly check?: CrossCheck<S>
  readonly env: Env
  /** `env` is complete: it has the settings of a configuration file, too. */
  readonly create: (deps: ServiceDeps, config: Config<S>, env: Env) => Promise<Service>
}

const BROKER_PATIENCE_MS = 60_000
/** The time limit for closing after the drain. */
const CLOSE_LIMIT_MS = 5_000
/** How long a drain goes on without nats-server, which may only be restarted. */
const GONE_LIMIT_MS = 3_000
const GONE_CHECK_MS = 100
const READY_FILE_AGAIN_MS = 500
/** A disk that hangs must not hold up `/health`, whose reader would stop the process. */
const DISK_LIMIT_MS = 500

/**
 * The life of a process: read the settings, connect, run until SIGTERM or SIGINT, then drain and close. After SIGTERM
 * the process goes on for `SUCCESSOR_LIMIT_MS`, or until SIGINT says that its successor is ready. The same signal twice
 * ends the process at once. Exit codes: 0 after a signal, 1 when it could not start or stop, 2 for faulty settings.
 */
export async function runService<S extends Settings>(options: RunServiceOptions<S>): Promise<void> {
  const { name } = options
  let base: Config<typeof baseSettings>
  let config: Config<S>
  let env: Env
  try {
    env = withConfigFile(options.env)
    ;({ base, config } = loadAll({ ...options, env }))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${name}: ${error.message}\n`)
    process.exitCode = 2
    return
  }
  const logger = createLogger(name, base.logLevel)
  const stop = new AbortController()
  const drain = (): void => {
    if (stop.signal.aborted) return
    stop.abort()
    setTimeout(() => process.exit(1), base.drainLimitMs + CLOSE_LIMIT_MS).unref()
  }
  let isReady = false
  const signals = new Set<NodeJS.Signals>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (signals.has(signal)) process.exit(1)
      signals.add(signal)
      logger.info({ component: 'service', action: 'stop', signal }, 'stopping')
      const waitsForSuccessor = signal === 'SIGTERM' && isReady && base.successorLimitMs > 0
      if (waitsForSuccessor) setTimeout(drain, base.successorLimitMs).unref()
      else drain()
    })
  }
  // Node would write them as plain text between the lines of the log.
  process.removeAllListeners('warning').on('warning', (err) => {
    if (err.name === 'ExperimentalWarning') return
    logger.warn(
      { component: 'service', action: 'warning', err },
      'Node.js warns of a fault of ours',
    )
  })
  process.on('uncaughtException', (err) => {
    if (isLateWrite(err)) return
    logger.fatal({ component: 'service', action: 'uncaught-exception', err }, 'a fault of ours')
    process.exit(1)
  })
  process.on('unhandledRejection', (err) => {
    logger.error({ component: 'service', action: 'unhandled-rejection', err }, 'a fault of ours')
  })
  try {
    await using stack = new AsyncDisposableStack()
    const bus = stack.use(await connectPatiently(base, name, logger, stop.signal))
    stack.use(shareStorageFault(bus))
    const proxyFor = await useProxies(base)
    const metrics = new Registry()
    metrics.setDefaultLabels({ service: name })
    collectDefaultMetrics({ register: metrics })
    exposeBroker(metrics, bus)
    const operations: OperationsDeps = {
      service: name,
      metrics,
      isStopping: () => signals.size > 0,
      ready: async () => {
        if (stop.signal.aborted) throw new BusError('unavailable', 'draining')
        await bus.ping()
      },
      storageFault: () => bus.storage.fault(),
      storageWarnings: async () => {
        const room = bus.storage.checkRoom().catch((error: unknown) => BusError.from(error).message)
        const late = delay(DISK_LIMIT_MS, 'the disk of nats-server does not answer', { ref: false })
        const warning = await Promise.race([room, late])
        return warning === undefined ? [] : [warning]
      },
    }
    const service = stack.use(
      await options.create({ bus, logger, metrics, operations, proxyFor }, config, env),
    )
    const { opsHost: host, opsPort } = base
    const isShared = base.successorLimitMs > 0
    const operationsServer =
      service.url !== undefined && opsPort === undefined
        ? undefined
        : stack.use(await listenOperations(operations, { host, port: opsPort ?? 0, isShared }))
    const operationsUrl = operationsServer?.url
    const url = service.url ?? operationsUrl
    // Speeds up the next start; only where NODE_COMPILE_CACHE names a folder.
    flushCompileCache()
    const { readyFile } = base
    if (readyFile !== undefined) {
      const content = { name, pid: process.pid, url }
      await writeReadyFile(readyFile, content, { logger, signal: stop.signal })
    }
    isReady = true
    stack.use(collectWhenQuiet())
    logger.info({ component: 'service', action: 'ready', url, operationsUrl }, 'ready')
    await aborted(stop.signal)
    const drained = service.drain().catch((err: unknown) => {
      const fields = { component: 'service', action: 'drain', err }
      logger.error(fields, 'could not finish what was begun')
      process.exitCode = 1
    })
    const late = delay(base.drainLimitMs, undefined, { ref: false })
    await Promise.race([drained, late, staysAway(bus, logger)])
    setTimeout(() => process.exit(1), CLOSE_LIMIT_MS).unref()
  } catch (error) {
    if (stop.signal.aborted) {
      logger.warn({ component: 'service', action: 'stop', err: error }, 'stopped with a fault')
      return
    }
    // A service may detect faulty settings only when it uses them.
    const isFaulty = error instanceof ConfigError
    const message = isFaulty || error instanceof BusError ? error.message : 'could not start'
    logger.fatal({ component: 'service', action: 'start', err: error }, message)
    process.exitCode = isFaulty ? 2 : 1
    // Resources that a partly built service left open must not keep the process alive.
    setTimeout(() => process.exit(1), 1_000).unref()
  }
}

/** Resolves once nats-server has been away for so long that a drain has no use: peers go on with what was begun. */
async function staysAway(bus: Pick<Bus, 'sinceOutageMs'>, logger: Logger): Promise<void> {
  for (let goneMs = 0; goneMs < GONE_LIMIT_MS;) {
    await delay(GONE_CHECK_MS, undefined, { ref: false })
    goneMs = bus.sinceOutageMs() === 0 ? goneMs + GONE_CHECK_MS : 0
  }
  const fields = { component: 'service', action: 'drain' }
  logger.warn(fields, 'nats-server is gone; what was begun goes on elsewhere')
}

/** The NATS client may write to a socket that it has just ended. The error is harmless: it reconnects. */
function isLateWrite(error: Error): boolean {
  const isFromClient = error.stack?.includes('transport-node') === true
  return isFromClient && 'code' in error && error.code === 'ERR_STREAM_WRITE_AFTER_END'
}

/** The settings of every service and those of this one. Throws `ConfigError` with the problems of both. */
function loadAll<S extends Settings>({
  settings,
  check,
  env,
}: RunServiceOptions<S>): { base: Config<typeof baseSettings>; config: Config<S> } {
  const problems: string[] = []
  const load = <T extends Settings>(some: T, crossCheck?: CrossCheck<T>): Config<T> | undefined => {
    try {
      return loadConfig(some, env, crossCheck)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
      return undefined
    }
  }
  const base = load(baseSettings)
  const config = load(settings, check)
  if (base === undefined || config === undefined) throw new ConfigError(problems)
  return { base, config }
}

/** Connects to the broker, which may start later. */
async function connectPatiently(
  config: Config<typeof baseSettings>,
  name: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<Bus> {
  const { natsUrl: url, natsReplicas: replicas, storeDir, storeMinFreeMb, storeMaxBytes } = config
  const giveUpAt = Date.now() + BROKER_PATIENCE_MS
  const minFreeBytes = storeMinFreeMb * 1024 * 1024
  const limited =
    storeMaxBytes === undefined ? undefined : { maxBytes: storeMaxBytes, minFreeBytes }
  const store = storeDir === undefined ? limited : { path: storeDir, minFreeBytes }
  const credential = {
    seedFile: config.natsSeedFile,
    caFile: config.natsTlsCa,
    certFile: config.natsTlsCert,
    keyFile: config.natsTlsKey,
  }
  // Nothing can be finished without the broker. A service that starts again has the credential of then.
  const onRefused = (err: BusError): void => {
    logger.fatal({ component: 'service', action: 'connect', err }, err.message)
    process.exit(1)
  }
  for (;;) {
    try {
      return await connectBus({ url, name, logger, replicas, store, credential, onRefused })
    } catch (error) {
      const mayHelp = BusError.from(error).code === 'unavailable'
      if (!mayHelp || Date.now() > giveUpAt || signal.aborted) throw error
      logger.warn({ component: 'service', action: 'connect', err: error }, 'trying again')
      await delay(500, undefined, { signal })
    }
  }
}

/** A service also starts on a full disk, where clients can read: its file is written as soon as there is room. */
async function writeReadyFile(
  path: string,
  content: object,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      // Renamed into place, so that no reader sees a partial file.
      await writeFile(`${path}.${process.pid}`, JSON.stringify(content))
      return await rename(`${path}.${process.pid}`, path)
    } catch (err) {
      if (!(err instanceof Error && 'code' in err && err.code === 'ENOSPC')) throw err
      const fields = { component: 'service', action: 'ready', err }
      if (attempt === 0) logger.warn(fields, 'the service works, but its ready file has no room')
      await delay(READY_FILE_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
