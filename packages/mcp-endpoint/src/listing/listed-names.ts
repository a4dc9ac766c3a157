import { joinToolNames } from '@mcp-host/mcp'
import type { ItemAddress } from './server-listing.ts'

/**
 * Names of tools and prompts in a listing of several servers: `server__name`. `plain`: servers of which the items keep their
 * names that begin with a prefix, which nobody else uses.
 */
export function listedNames(
  servers: Iterable<string>,
  plain: ReadonlyMap<string, string> = new Map(),
): (place: ItemAddress) => string {
  const join = joinToolNames(servers)
  return ({ server, name }) => {
    const prefix = plain.get(server)
    const isPlain = prefix !== undefined && name.startsWith(prefix)
    return isPlain ? name : join({ server, tool: name })
  }
}

/** The joined name in its other form, `server.name`; `undefined` when the listed name is not a joined one. */
export function dottedName(listed: string, { server, name }: ItemAddress): string | undefined {
  return listed.startsWith(`${server}__`) ? `${server}.${name}` : undefined
}
