import type { Bus, CatalogView } from '@mcp-host/bus'
import type { GatewayAudit } from '../../gateway-audit.ts'

export interface ServerRoutesDeps {
  readonly bus: Pick<Bus, 'call'>
  readonly catalog: Pick<CatalogView, 'entries'>
  readonly audit: Pick<GatewayAudit, 'serversChanged'>
}
