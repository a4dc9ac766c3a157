import { bindLogger, type Guardian, type Logger } from '@mcp-host/process'
import type { ListName } from './inventory/inventory.ts'
import { PoolClient } from './pool/pool-client.ts'
import { ServerPool } from './pool/server-pool.ts'
import type { ServerRequestCallback, ServerRequestKind } from './requests/server-request.ts'
import type {
  Adaptation,
  RequestSender,
  Lifecycle,
  RunningInstance,
} from './instance/instance-set.ts'
import { RequestedNotices } from './instance/notices.ts'
import { InstanceClient } from './instance/instance-client.ts'
import { Instance } from './instance/instance.ts'
import { instancesOf } from './pool/instances-of.ts'
import type { ServerConfig } from './endpoints/index.ts'
import type { ServerCounters, TokenOutcome } from './metrics/host-metrics.ts'
import type { UpstreamEvents } from './upstream-events.ts'
import type { SettledUpstreamOptions } from './upstream-options.ts'

export interface InstancesDeps {
  readonly options: SettledUpstreamOptions
  readonly guardian: Guardian
  /** Answers requests of the server. */
  readonly callback: ServerRequestCallback
  /** The kinds of requests that the callback answers. */
  readonly answered: ReadonlySet<ServerRequestKind>
  readonly events: UpstreamEvents
  /** The dependencies of the server that are not ready. Default: none. */
  readonly missing?: (config: ServerConfig) => readonly string[]
}

/** One connection at a time, or several instances that share the requests. */
export interface InstanceSet {
  readonly server: Lifecycle
  readonly client: RequestSender
  /** The instances; a server without `instances` counts as its only one. */
  readonly instances: readonly Instance[]
  /** Replaces instances whose configuration has changed; `undefined` when no unchanged one is ready. */
  readonly adapt: (config: ServerConfig) => Adaptation | undefined
}

interface InstanceOptions {
  readonly name: string
  readonly config: ServerConfig
  readonly logger: Logger
  /** The requested notifications, also shared by all instances. */
  readonly requested: RequestedNotices
  /** Called when the server announces that a list has changed. */
  readonly onListChanged?: (list: ListName) => void
  /** Called after a list was read again. */
  readonly onListed: (list: ListName) => void
}

/** Creates a configured server, without starting it. */
export function openInstances(
  deps: InstancesDeps,
  name: string,
  config: ServerConfig,
): InstanceSet {
  const shared: InstanceOptions = {
    name,
    config,
    logger: deps.options.logger,
    requested: new RequestedNotices(),
    onListed: (list) => deps.events.listChanged?.(list),
  }
  return instancesOf(config) === undefined ? openOne(deps, shared) : openPool(deps, shared)
}

function openOne(deps: InstancesDeps, shared: InstanceOptions): InstanceSet {
  const { server, client } = createInstance(deps, shared)
  return {
    server,
    client: {
      idle: () => client.idle(),
      request: (options, send) => send(client, options),
      notify: (send) => send(client),
    },
    instances: [server],
    adapt: () => undefined,
  }
}

function openPool(deps: InstancesDeps, shared: InstanceOptions): InstanceSet {
  const { name, config, logger, onListed } = shared
  const create = (instanceConfig: ServerConfig, number: number): RunningInstance => {
    const instance = createInstance(deps, {
      ...shared,
      config: instanceConfig,
      logger: bindLogger(logger, { instance: number }),
      onListChanged: (list) => pool.relist(list, instance.server),
      onListed: (list) => {
        // The lists of the best instance are those of the server.
        if (pool.best.server === instance.server) onListed(list)
      },
    })
    return instance
  }
  const pool = new ServerPool(create, name, config)
  return {
    server: pool,
    client: new PoolClient({
      pool,
      logger: bindLogger(logger, { component: 'request', server: name }),
      onPicked(position) {
        const { instances } = deps.options.metrics.counters(name)
        instances[position] = (instances[position] ?? 0) + 1
      },
    }),
    get instances() {
      return pool.instances.map(({ server }) => server)
    },
    adapt: (next) => {
      const adaptation = pool.adapt(next)
      if (adaptation !== undefined) deps.events.adapted?.()
      return adaptation
    },
  }
}

/** Creates one server, or one instance of it, without starting it. */
function createInstance(
  { options, guardian, callback, answered, events, missing = () => [] }: InstancesDeps,
  { name, config, logger, requested, onListChanged, onListed }: InstanceOptions,
): RunningInstance {
  const { metrics } = options
  const requestLogger = bindLogger(logger, { component: 'request', server: name })
  const server = new Instance(
    {
      guardian,
      logger,
      env: options.env,
      sandbox: options.sandbox,
      proxyFor: options.proxyFor,
      logins: options.logins?.(name),
      builtIn: options.builtIn,
      limits: options.messageLimits,
      now: options.now,
      onLeftOut: (what, count = 1) => void (metrics.counters(name).leftOut[what] += count),
      onAsked: (outcome) => countToken(metrics.counters(name), config, outcome),
      inbox: {
        callback,
        answered,
        capabilities: options.clientCapabilities,
        extensions: options.extensions,
        onListChanged: (list) => {
          events.listOutdated?.(list)
          onListChanged?.(list)
        },
        onLog: (message) => events.logged?.(message),
        onLogFailure: (error) => {
          requestLogger.error({ action: 'log', err: error }, 'the callback failed on a log message')
        },
        onResourceUpdated: (uri) => events.resourceUpdated?.(uri),
        onElicitationComplete: (elicitationId) => events.elicitationComplete?.(elicitationId),
      },
      onListed,
      onChange: () => events.changed?.(),
      missing: () => missing(config),
      requested,
    },
    {
      name,
      config,
      clientInfo: options.clientInfo,
      startRetries: options.startRetries,
      startTimeoutMs: config.startTimeoutMs ?? options.startTimeoutMs,
      installTimeoutMs:
        config.startTimeoutMs ?? Math.max(options.startTimeoutMs, options.installTimeoutMs),
      stopGraceMs: config.stopGraceMs ?? options.stopGraceMs,
    },
  )
  const client = new InstanceClient(
    {
      server,
      limits: options.messageLimits,
      logger: requestLogger,
      metrics,
      onRefused: (tool, reason) => {
        requestLogger.warn({ action: 'tools/call', tool, reason }, 'a call was refused')
        events.refused?.(tool, reason)
      },
      onDone: (isWell, durationMs) => {
        if (isWell) server.health.succeeded(durationMs)
        else server.health.failed()
      },
    },
    {
      timeoutMs: config.timeoutMs ?? options.defaultToolTimeoutMs,
      maxTimeoutMs: config.maxTimeoutMs ?? options.maxToolTimeoutMs,
      circuitBreaker: { ...options.circuitBreaker, ...config.circuitBreaker },
      maxConcurrentCalls: config.maxConcurrentCalls ?? options.maxConcurrentCalls,
    },
  )
  return { server, client }
}

function countToken({ tokens }: ServerCounters, config: ServerConfig, outcome: TokenOutcome): void {
  if (!('auth' in config) || config.auth === undefined) return
  const counts = (tokens[config.auth.type] ??= { ok: 0, needed: 0, failed: 0 })
  counts[outcome] += 1
}
