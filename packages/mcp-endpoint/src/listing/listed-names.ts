import { joinToolNames } from '@mcp-host/mcp'
import type { ItemAddress } from './server-listing.ts'

/** Names of tools and prompts in a listing of several servers: `server__name`. */
export function listedNames(servers: Iterable<string>): (place: ItemAddress) => string {
  const join = joinToolNames(servers)
  return ({ server, name }) => join({ server, tool: name })
}

/** The joined name in its other form, `server.name`; `undefined` when the listed name is not a joined one. */
export function dottedName(listed: string, { server, name }: ItemAddress): string | undefined {
  return listed.startsWith(`${server}__`) ? `${server}.${name}` : undefined
}
