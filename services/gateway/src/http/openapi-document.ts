import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/service'
import { Registry } from 'prom-client'
import { gatewayEvents } from '../events.ts'
import type { Clients } from '../mcp/core/clients.ts'
import type { ClientVirtualServers } from '../mcp/core/client-virtual-servers.ts'
import { VirtualServers } from '../mcp/virtual-servers.ts'
import { buildApp } from './app.ts'

/** The description of the HTTP API, as a gateway serves it. Starts nothing. */
export async function openApiDocument(): Promise<object> {
  const metrics = new Registry()
  const catalog = {
    entries: new Map(),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }
  const app = await buildApp(
    {
      // There are no requests, so these are not used.
      bus: {} as Bus,
      logger: {} as Logger,
      events: gatewayEvents(metrics),
      draining: AbortSignal.any([]),
      refusing: AbortSignal.any([]),
      operations: { service: 'gateway', metrics, ready: async () => undefined },
      passing: new InFlight(),
      clients: {} as Clients,
      clientVirtualServers: {} as ClientVirtualServers,
      signSession: (random) => random,
      catalog,
      virtualServers: new VirtualServers(catalog),
      models: () => ({ providers: [] }),
      tools: () => [],
      live: { of: async () => [] },
      onSocket: () => undefined,
    },
    { allowedOrigins: [], heartbeatMs: 30_000, mcpStreamMs: 0 },
  )
  await app.ready()
  return app.swagger()
}
