import { joinToolNames } from 'mcp-host/tool-names'
import type { Place } from './offer.ts'

/** What tools and prompts are called where several servers are offered together: `server__name`, for these servers. */
export function joinPlaces(servers: Iterable<string>): (place: Place) => string {
  const join = joinToolNames(servers)
  return ({ server, name }) => join({ server, tool: name })
}

/** The joined name in its other form, `server.name`; `undefined` when the listed name is no joined one. */
export function dottedName(listed: string, { server, name }: Place): string | undefined {
  return listed.startsWith(`${server}__`) ? `${server}.${name}` : undefined
}
