import type { CatalogView } from '@mcp-host/bus'
import type { ServerView } from '@mcp-host/contracts'
import { unreportedServers, viewServers } from '@mcp-host/contracts'
import type { Samples } from '@mcp-host/service'
import { exposeSamples } from '@mcp-host/service'
import type { Registry } from 'prom-client'
import { Counter, Gauge } from 'prom-client'

/**
 * The state of the MCP servers as clients meet it. Gateways report it, since the supervisor of a missing server may be
 * gone. Each gateway reports all servers.
 */
export function exposeServers(registry: Registry, { entries }: Pick<CatalogView, 'entries'>): void {
  const eachServer = (read: (view: ServerView) => number | undefined): Samples =>
    viewServers(entries.values()).flatMap((view) => {
      const value = read(view)
      return value === undefined ? [] : [[{ server: view.server }, value] as const]
    })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_server_ready',
    help: 'Whether an instance of the configured MCP server is ready',
    labelNames: ['server'],
    read: () => [
      ...eachServer(({ state }) => (state === 'ready' ? 1 : 0)),
      ...unreportedServers(entries.values()).map((server) => [{ server }, 0] as const),
    ],
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_server_health_score',
    help: 'Share of recent requests that the MCP server answered; 0 while it is not ready',
    labelNames: ['server'],
    read: () =>
      eachServer(({ state, entry, instances }) =>
        state === 'ready' ? instances.find((each) => each.entry === entry)?.stats?.healthScore : 0,
      ),
  })
  exposeSamples(registry, Counter, {
    name: 'mcp_host_server_restarts_total',
    help: 'Restarts of the processes and connections of the MCP server since the start of its supervisors',
    labelNames: ['server'],
    read: () =>
      eachServer(({ instances }) =>
        instances.reduce((sum, { entry: { restarts = 0 } }) => sum + restarts, 0),
      ),
  })
}
