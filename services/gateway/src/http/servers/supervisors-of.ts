import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { BusError, viewServers } from '@mcp-host/contracts'

/** The ids of the supervisors that run a server. Throws `not-found`. */
export function supervisorsOf(server: ServerName, entries: Iterable<CatalogEntry>): string[] {
  const found = viewServers(entries).find((each) => each.server === server)
  if (found !== undefined) return found.instances.map(({ entry }) => entry.supervisor)
  throw new BusError('not-found', `server: there is no MCP server "${server}"`, { field: 'server' })
}
