import { joinToolNames } from '@mcp-host/mcp'
import type { ItemAddress } from './server-listing.ts'

/**
 * Names of tools and prompts in a listing of several servers: `server__name`. `plain`: the servers whose items have names
 * that nobody else uses, and keep them.
 */
export function listedNames(
  servers: Iterable<string>,
  plain: ReadonlySet<string> = new Set(),
): (place: ItemAddress) => string {
  const join = joinToolNames(servers)
  return ({ server, name }) => (plain.has(server) ? name : join({ server, tool: name }))
}

/** The joined name in its other form, `server.name`; `undefined` when the listed name is not a joined one. */
export function dottedName(listed: string, { server, name }: ItemAddress): string | undefined {
  return listed.startsWith(`${server}__`) ? `${server}.${name}` : undefined
}
