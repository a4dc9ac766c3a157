import type { ServerView } from '@mcp-host/contracts'

export interface AbsentServer {
  readonly server: string
  /** Why it is not ready, with the last lines that it wrote. */
  readonly why: string
}

/** The server that a tool or prompt belongs to by its name, as in `server__name`, where that one is not ready. */
export function absentServer(
  name: string,
  servers: readonly ServerView[],
): AbsentServer | undefined {
  const [found] = servers
    .filter(({ server }) => ['__', '.'].some((joint) => name.startsWith(server + joint)))
    // Of `a` and `a__b` the longer one is meant.
    .toSorted((one, other) => other.server.length - one.server.length)
  if (found === undefined || found.state === 'ready') return undefined
  const { server, state, error, entry } = found
  const reason = `the server "${server}" is ${state}${error === undefined ? '' : `: ${error}`}`
  const { output = [] } = entry
  const last = output.length === 0 ? '' : `. Its last output:\n  ${output.join('\n  ')}`
  return { server, why: reason + last }
}
