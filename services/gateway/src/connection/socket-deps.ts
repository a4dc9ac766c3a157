import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import type { GatewayEvents } from '../events.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { GatewayLimits } from '../limits/gateway-limits.ts'
import type { MaintenanceState } from '../maintenance-state.ts'
import type { Connection } from './connection.ts'

/** Dependencies of chat sockets and their frame handlers. */
export interface SocketDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: GatewayEvents
  readonly connections: Set<Connection>
  readonly audit: Pick<GatewayAudit, 'approvalAnswered' | 'isOn' | 'foreignSessionUsed'>
  readonly limits: Pick<GatewayLimits, 'request' | 'message'>
  readonly maintenance: Pick<MaintenanceState, 'check'>
  /** Signs the ids of sessions. */
  readonly signSession: SignSession
  /** The greeting of a new client: the model and the tools. */
  readonly welcome: (principal: Principal) => string
  /** Aborts when the gateway takes nothing new, and clients have to connect to another. */
  readonly draining: AbortSignal
}
