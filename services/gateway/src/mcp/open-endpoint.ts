import type { Bus, CatalogView } from '@mcp-host/bus'
import { isConfigured, presentSupervisors } from '@mcp-host/contracts'
import { BusServers } from '@mcp-host/mcp-bus/call'
import type {
  AccessPolicy,
  Approvals,
  Clients,
  ClientVirtualServers,
  OnRead,
  OnRecovered,
  Servers,
  SignSession,
} from '@mcp-host/mcp-endpoint'
import { McpEndpoint, SharedRequests } from '@mcp-host/mcp-endpoint'
import type { Logger } from '@mcp-host/service'
import { pauseServer, VERSION } from '@mcp-host/service'
import type { GatewayEvents } from '../events.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import { MissingServers, type MissingServersDeps } from './missing-servers.ts'
import type { ClientLimits } from '../limits/unlimited.ts'

export interface EndpointDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: GatewayEvents
  readonly catalog: CatalogView
  readonly clients: Clients
  readonly clientVirtualServers: ClientVirtualServers
  readonly signSession: SignSession
  readonly policy: AccessPolicy
  readonly approvals?: Approvals | undefined
  readonly limits: ClientLimits
  readonly audit: Pick<GatewayAudit, 'isOn' | 'itemRead'>
}

/** What answers MCP clients, and the servers that it asks. */
export interface OpenEndpoint {
  readonly endpoint: McpEndpoint
  readonly servers: Servers
  /** Absent while the audit log is off. */
  readonly onRead: OnRead | undefined
  readonly onRecovered: OnRecovered
}

interface EndpointSettings extends Pick<MissingServersDeps, 'linkTo'> {
  readonly mcpStreamMs: number
}

export function openEndpoint(
  deps: EndpointDeps,
  { mcpStreamMs, linkTo }: EndpointSettings,
): OpenEndpoint {
  const { bus, logger, events, catalog, audit } = deps
  const onRecovered: OnRecovered = (recoveredBy, { server, afterMs }) => {
    const fields = { component: 'mcp', action: 'recovered', recoveredBy, server, afterMs }
    logger.info(fields, 'a request succeeded after a failure that its client did not learn of')
    events.requestRecovered(recoveredBy)
  }
  const onRead: OnRead | undefined = audit.isOn ? (...read) => audit.itemRead(...read) : undefined
  const servers = new SharedRequests(
    new BusServers({
      bus,
      isConfigured: (server) => isConfigured(catalog.entries.values(), server),
      supervisors: () => presentSupervisors(catalog.entries.values()),
      pauseServer: (server) => void pauseServer({ bus, logger }, server),
      onRecovered,
    }),
  )
  const serverInfo = { name: 'mcp-host', version: VERSION }
  const { clients, clientVirtualServers, signSession, policy, approvals, limits } = deps
  const endpoint = new McpEndpoint(
    {
      servers,
      clients,
      clientVirtualServers,
      policy,
      approvals,
      limits,
      signSession,
      serverInfo,
      onRead,
      onRecovered,
      missing: new MissingServers({ ...deps, linkTo }).of,
      onAnswered(method, isError, seconds) {
        const outcome = isError ? 'error' : 'ok'
        events.requestAnswered({ entrance: 'mcp', method, outcome, seconds })
      },
    },
    { streamMs: mcpStreamMs },
  )
  return { endpoint, servers, onRead, onRecovered }
}
