import type { Caller } from '@mcp-host/contracts'
import type { ClientVirtualServers } from './listing/client-virtual-servers.ts'
import type { SignSession } from './messages/signed-id.ts'
import type { AdmitDeps } from './route/admit.ts'
import type { ServerInfo } from './route/answer-locally.ts'
import type { MissingServer, VirtualServer } from './listing/virtual-server.ts'
import type { OnRecovered } from './servers.ts'
import type { Clients } from './sessions/clients.ts'
import type { StreamLimits } from './streams/notification-streams.ts'

export interface EndpointDeps extends AdmitDeps {
  readonly clients: Clients
  readonly serverInfo: ServerInfo
  /** Signs the ids of sessions, so that ids made up by clients are recognised and need no state. */
  readonly signSession: SignSession
  /** The limits of principals. Default: none. */
  readonly limits?: EndpointLimits
  /** The servers that a list is without, or that ask the caller to log in. */
  readonly missing?: (
    caller: Caller,
    virtualServer: VirtualServer,
  ) => readonly MissingServer[] | Promise<readonly MissingServer[]>
  /** The virtual servers of clients with dedicated processes. */
  readonly clientVirtualServers?: ClientVirtualServers
  readonly onRecovered?: OnRecovered
  /** Called once per answered request; batches count as none. */
  readonly onAnswered?: (method: string, isError: boolean, seconds: number) => void
}

/** Each method throws, or rejects with, `exhausted`. `undefined`: allowed without waiting. */
export interface EndpointLimits extends StreamLimits {
  request(caller: Caller): Promise<void> | undefined
}

export interface EndpointOptions {
  /** The duration of a request's stream before a client that can resume has to. Default: unlimited. */
  readonly streamMs?: number
}
