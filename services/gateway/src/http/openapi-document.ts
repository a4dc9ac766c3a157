import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { InFlight } from '@mcp-host/async'
import { AccessPolicy, type Clients, type ClientVirtualServers } from '@mcp-host/mcp-endpoint'
import { Registry } from 'prom-client'
import { openDoor } from '../auth/authenticator.ts'
import { gatewayEvents } from '../events.ts'
import { ApprovalQueue } from '../approvals/approval-queue.ts'
import { GatewayAudit } from '../gateway-audit.ts'
import { NO_PINS } from '../auth/no-pins.ts'
import { UNLIMITED } from '../limits/unlimited.ts'
import type { MaintenanceState } from '../maintenance-state.ts'
import { VirtualServers } from '../mcp/virtual-servers.ts'
import { buildApp } from './app.ts'

/** The description of the HTTP API that a gateway serves. No gateway is started. */
export async function openApiDocument(): Promise<object> {
  const metrics = new Registry()
  const catalog = {
    entries: new Map(),
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }
  const app = await buildApp(
    {
      // The dependencies are not used, since there are no requests.
      bus: {} as Bus,
      logger: {} as Logger,
      events: gatewayEvents(metrics),
      draining: AbortSignal.any([]),
      refusing: AbortSignal.any([]),
      operations: { service: 'gateway', metrics, ready: async () => undefined },
      policy: new AccessPolicy(),
      pins: NO_PINS,
      // The first request would open it.
      queue: new ApprovalQueue(
        { bus: {} as Bus, audit: new GatewayAudit(undefined) },
        { timeoutMs: 0 },
      ),
      limits: UNLIMITED,
      maintenance: {} as MaintenanceState,
      audit: new GatewayAudit(undefined),
      passing: new InFlight(),
      clients: {} as Clients,
      clientVirtualServers: {} as ClientVirtualServers,
      signSession: (random) => random,
      catalog,
      virtualServers: new VirtualServers(catalog),
      models: () => ({ providers: [] }),
      tools: () => [],
      live: { of: async () => [] },
      auth: openDoor('http://127.0.0.1:3000'),
      onSocket: () => undefined,
    },
    { allowedOrigins: [], heartbeatMs: 30_000, mcpStreamMs: 0 },
  )
  await app.ready()
  return app.swagger()
}
