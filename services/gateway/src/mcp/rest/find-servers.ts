import type { VirtualServer } from '../core/virtual-server.ts'
import type { VirtualServers } from '../virtual-servers.ts'
import { RestFault } from './rest-fault.ts'

/** One server under its own names, or without a name all servers. Throws `RestFault`. */
export function findServers(
  virtualServers: VirtualServers,
  server: string | undefined,
): VirtualServer {
  if (server === undefined) return virtualServers.all()
  const found = virtualServers.server(server)
  if (found !== undefined) return found
  const message = `server: there is no server "${server}"; GET /capabilities tells which there are`
  throw new RestFault(404, message, { field: 'server' })
}
