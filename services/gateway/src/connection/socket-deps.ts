import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import type { GatewayEvents } from '../events.ts'
import type { SignSession } from '../mcp/core/signed-id.ts'
import type { Connection } from './connection.ts'

/** What the sockets of the chat and the handlers of their frames need. */
export interface SocketDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: GatewayEvents
  readonly connections: Set<Connection>
  /** Signs the ids of sessions. */
  readonly signSession: SignSession
  /** What a new client is told: who answers, with which tools. */
  readonly welcome: () => string
  /** From then on nothing new is taken: clients are to go elsewhere. */
  readonly draining: AbortSignal
}
