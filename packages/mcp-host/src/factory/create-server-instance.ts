import type { ServerCache } from '../cache/server-cache.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { HostEvent } from '../events/host-event.ts'
import type { SettledOptions } from '../host-options.ts'
import type { ListName } from '../inventory/inventory.ts'
import { bindLogger, type Logger } from '../logger.ts'
import type { MetricsRegistry } from '../metrics/host-metrics.ts'
import type { Guardian } from '../process/guardian.ts'
import type { ServerRequestCallback, ServerRequestKind } from '../requests/server-request.ts'
import type { ServerInstance } from '../server/managed-server.ts'
import type { Wanted } from '../server/notices.ts'
import { ServerClient } from '../server/server-client.ts'
import { Server } from '../server/server.ts'

export interface ServerInstanceDeps {
  readonly options: SettledOptions
  readonly guardian: Guardian
  readonly metrics: MetricsRegistry
  readonly callback: ServerRequestCallback
  readonly answered: ReadonlySet<ServerRequestKind>
  readonly emit: (event: HostEvent) => void
  /** The dependencies of a server that are not ready. */
  readonly missing: (config: ServerConfig) => readonly string[]
}

export interface ServerInstanceOptions {
  readonly name: string
  readonly config: ServerConfig
  readonly logger: Logger
  /** The server's cache, shared by all of its instances. */
  readonly cache: ServerCache
  readonly wanted: Wanted
  /** Told when the server says that a list has changed. */
  readonly onListChanged?: (list: ListName) => void
  /** Told after a list was read again. */
  readonly onListed: (list: ListName) => void
  /** Told after every change of state or lists. */
  readonly onChange: () => void
}

/** One server, or one instance of it, which is not started yet. */
export function createServerInstance(
  { options, guardian, metrics, callback, answered, emit, missing }: ServerInstanceDeps,
  { name, config, logger, cache, wanted, onListChanged, onListed, onChange }: ServerInstanceOptions,
): ServerInstance {
  const requestLogger = bindLogger(logger, { component: 'request', server: name })
  const server = new Server(
    {
      guardian,
      logger,
      env: options.env,
      limits: options.messageLimits,
      onLeftOut: (what, count = 1) => void (metrics.counters(name).leftOut[what] += count),
      inbox: {
        callback,
        answered,
        capabilities: options.clientCapabilities,
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
      wanted,
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
