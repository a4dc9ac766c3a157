import type { CatalogEntry } from '@mcp-host/contracts'
import { BUILT_IN_SERVERS, unreportedServers, viewServers } from '@mcp-host/contracts'

export interface AbsentServer {
  /** `undefined`: the servers are not known yet. */
  readonly server?: string
  /** Why it is not ready, with the last lines of its output. */
  readonly why: string
  /** Whether it is starting, or moving to another supervisor. */
  readonly isComing: boolean
}

/** The absent server to which the name of a tool or prompt belongs, as in `server__name`. */
export function absentServer(
  name: string,
  entries: Iterable<CatalogEntry>,
): AbsentServer | undefined {
  const all = Array.from(entries)
  if (!all.some(({ kind }) => kind === 'supervisor')) {
    return { why: 'no supervisor of MCP servers is there', isComing: true }
  }
  const states = [
    ...unreportedServers(all).map((server) => ({ server, state: 'starting', error: undefined })),
    ...viewServers(all).map(({ server, state, error, entry }) => {
      return { server, state, error, output: entry.output }
    }),
  ]
  const [found] = states
    .filter(({ server }) => prefixesOf(server).some((prefix) => name.startsWith(prefix)))
    // Between `a` and `a__b` the longer name wins.
    .toSorted((one, other) => other.server.length - one.server.length)
  if (found === undefined || found.state === 'ready') return undefined
  const { server, state, error, output = [] } = { output: undefined, ...found }
  const reason = `the server "${server}" is ${state}${error === undefined ? '' : `: ${error}`}`
  const last = output.length === 0 ? '' : `. Its last output:\n  ${output.join('\n  ')}`
  return { server, why: reason + last, isComing: state === 'starting' }
}

/** What the names of the items of a server begin with. */
function prefixesOf(server: string): string[] {
  return [BUILT_IN_SERVERS.get(server) ?? [], `${server}__`, `${server}.`].flat()
}
