import { ServerCache } from '../cache/server-cache.ts'
import type { TtlCache } from '../cache/ttl-cache.ts'
import type {
  ListName,
  MemberServer,
  ServerConfig,
  ServerInstance,
  ServerRequestCallback,
  ServerRequestKind,
} from '@mcp-host/upstream'
import type { HostEvent } from '../events/host-event.ts'
import type { SettledOptions } from '../host-options.ts'
import { bindLogger, type Logger } from '@mcp-host/process'
import { PoolClient, RequestedNotices, Server, ServerClient, ServerPool } from '@mcp-host/upstream'
import type { Guardian } from '@mcp-host/process'
import type { ManagedServer } from '../server/managed-server.ts'

export interface ManagedServerDeps {
  readonly options: SettledOptions
  readonly guardian: Guardian
  /** Caches prompts and resources of all servers; undefined: no caching. */
  readonly cache: TtlCache<object> | undefined
  readonly callback: ServerRequestCallback
  readonly answered: ReadonlySet<ServerRequestKind>
  readonly emit: (event: HostEvent) => void
  /** Called after every change of state or lists. */
  readonly onChange: (server: MemberServer) => void
  /** The dependencies of a server that are not ready. */
  readonly missing: (config: ServerConfig) => readonly string[]
}

interface InstanceOptions {
  readonly name: string
  readonly config: ServerConfig
  readonly logger: Logger
  /** The server's cache, shared by all of its instances. */
  readonly cache: ServerCache
  /** The requested notifications, also shared by all instances. */
  readonly requested: RequestedNotices
  /** Called when the server announces that a list has changed. */
  readonly onListChanged?: (list: ListName) => void
  /** Called after a list was read again. */
  readonly onListed: (list: ListName) => void
  /** Called after every change of state or lists. */
  readonly onChange: () => void
}

/** Creates a configured server, without starting it. */
export function createManagedServer(
  deps: ManagedServerDeps,
  name: string,
  config: ServerConfig,
): ManagedServer {
  const isAway = (): boolean => member.server.state !== 'ready'
  const shared: InstanceOptions = {
    name,
    config,
    logger: deps.options.logger,
    cache: new ServerCache({ cache: deps.cache, isAway }, name),
    requested: new RequestedNotices(),
    onListed: (list) => deps.emit({ type: 'list-changed', server: name, list }),
    onChange: () => deps.onChange(member.server),
  }
  const member = config.instances === undefined ? createOne(deps, shared) : createPool(deps, shared)
  return member
}

function createOne(deps: ManagedServerDeps, shared: InstanceOptions): ManagedServer {
  const { server, client } = createInstance(deps, shared)
  return {
    server,
    client: {
      idle: () => client.idle(),
      request: (options, send) => send(client, options),
      notify: (send) => send(client),
    },
    cache: shared.cache,
    instances: [server],
    adapt: () => undefined,
  }
}

function createPool(deps: ManagedServerDeps, shared: InstanceOptions): ManagedServer {
  const { name, config, cache, logger, onListed } = shared
  const create = (instanceConfig: ServerConfig, number: number): ServerInstance => {
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
    cache,
    get instances() {
      return pool.instances.map(({ server }) => server)
    },
    adapt: (next) => {
      const adaptation = pool.adapt(next)
      if (adaptation === undefined) return undefined
      // Results of a removed instance are dropped.
      cache.forget('prompt')
      cache.forget('resource')
      return adaptation
    },
  }
}

/** Creates one server, or one instance of it, without starting it. */
function createInstance(
  { options, guardian, callback, answered, emit, missing }: ManagedServerDeps,
  { name, config, logger, cache, requested, onListChanged, onListed, onChange }: InstanceOptions,
): ServerInstance {
  const { metrics } = options
  const requestLogger = bindLogger(logger, { component: 'request', server: name })
  const server = new Server(
    {
      guardian,
      logger,
      env: options.env,
      sandbox: options.sandbox,
      proxyFor: options.proxyFor,
      limits: options.messageLimits,
      now: options.now,
      onLeftOut: (what, count = 1) => void (metrics.counters(name).leftOut[what] += count),
      inbox: {
        callback,
        answered,
        capabilities: options.clientCapabilities,
        extensions: options.extensions,
        onListChanged: (list) => {
          // Until the list is read again, any entry may be outdated.
          if (list === 'prompts') cache.forget('prompt')
          if (list === 'resources') cache.forget('resource')
          onListChanged?.(list)
        },
        onLog: (message) => emit({ type: 'log', ...message }),
        onLogFailure: (error) => {
          requestLogger.error({ action: 'log', err: error }, 'the callback failed on a log message')
        },
        onResourceUpdated: (uri) => {
          cache.forget('resource', uri)
          emit({ type: 'resource-updated', server: name, uri })
        },
        onElicitationComplete: (elicitationId) => {
          emit({ type: 'elicitation-complete', server: name, elicitationId })
        },
      },
      onListed,
      onChange,
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
  const client = new ServerClient(
    {
      server,
      limits: options.messageLimits,
      logger: requestLogger,
      metrics,
      onRefused: (tool, reason) => {
        requestLogger.warn({ action: 'tools/call', tool, reason }, 'a call was refused')
        emit({ type: 'security', server: name, tool, reason })
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
