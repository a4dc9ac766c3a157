import type { Principal } from '@mcp-host/contracts'
import type { AccessPolicy, VirtualServer } from '@mcp-host/mcp-endpoint'
import type { VirtualServers } from '../virtual-servers.ts'
import { RestFault } from './rest-fault.ts'

export interface FindServersDeps {
  readonly virtualServers: VirtualServers
  readonly policy: AccessPolicy
}

/** What a principal sees of one server under its own names, or without a name of all servers. Throws `RestFault`. */
export function findServers(
  { virtualServers, policy }: FindServersDeps,
  principal: Principal,
  server: string | undefined,
): VirtualServer {
  if (server === undefined) return policy.view(principal, virtualServers.all())
  const found = policy.admit(principal, virtualServers.server(server))
  if (found !== undefined) return policy.view(principal, found)
  const message = `server: there is no server "${server}"; GET /capabilities tells which there are`
  throw new RestFault(404, message, { field: 'server' })
}
