import { runTool, ServerName } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import type { Environment } from 'mcp-host'
import { loadMcpConfig, MCPHost } from 'mcp-host'
import type { SupervisorConfig } from './config.ts'
import { supervisorEvents } from './events.ts'
import { startToolCall } from './handlers/run-tool.ts'
import { publishCatalog, removeStale } from './publish-catalog.ts'

/** A supervisor: runs the MCP servers of `mcp.json` and their tools for whoever asks on the bus. */
export async function createSupervisor(
  { bus, logger, metrics }: ServiceDeps,
  { mcpJsonPath, defaultToolTimeoutMs }: SupervisorConfig,
  env: Environment,
): Promise<Service> {
  const mcpConfig = await loadMcpConfig(mcpJsonPath, env)
  const names = Object.keys(mcpConfig.servers).map((name) => ServerName.parse(name))
  await removeStale(bus.catalog, names)

  const host = new MCPHost({ env, logger, startPolicy: 'best-effort', defaultToolTimeoutMs })
  // Their faults are in the catalog and the log; a slow one must not hold up the others.
  host.initialize(mcpConfig).catch((err: unknown) => {
    logger.error({ component: 'supervisor', action: 'initialize', err }, 'could not start servers')
  })
  const running = new Set<Promise<void>>()
  const deps = { bus, host, logger, events: supervisorEvents(metrics), running }
  const queues = new Map<string, Disposable>()
  const serve = (server: ServerName): void => {
    const queue = bus.serve(runTool, { server }, (served) => startToolCall(deps, server, served))
    queues.set(server, queue)
  }
  const closed = new AbortController()
  const published = publishCatalog(bus.catalog, host, {
    signal: closed.signal,
    warn: (err) => logger.warn({ component: 'catalog', action: 'publish', err }, 'trying again'),
    onPublished({ server, state }) {
      // While it starts nobody answers for it: whoever calls it waits.
      if (state !== 'starting' && !queues.has(server)) serve(server)
    },
  })
  return {
    async drain() {
      for (const queue of queues.values()) queue[Symbol.dispose]()
      await Promise.all(running)
    },
    async [Symbol.asyncDispose]() {
      await host.shutdown()
      closed.abort()
      await published
    },
  }
}
