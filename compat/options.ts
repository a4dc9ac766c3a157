import { parseArgs } from 'node:util'
import { UsageError } from '../tools/command-line.ts'
import type { RealServer } from './servers.ts'
import { SERVERS } from './servers.ts'

export const USAGE = `Usage: npm run compat -- [options]

Starts published MCP servers from npm, reads their lists and calls their safe tools, with versions 1 and 2 of the
TypeScript SDK: directly, at /mcp, and at /mcp/servers/<name>. Prints every difference, and counts those that
compat/exceptions.ts lists. Each server is installed once, into the cache folder of mcp-host.

  --only NAME   test only this server; may be repeated
  --list        print the servers and exit
  --keep        keep the folder of logs even without differences
  --help        print this text

Exit code: 0 when all differences are listed, 1 otherwise, 2 for wrong options.
`

export interface CompatOptions {
  readonly servers: readonly RealServer[]
  readonly isList: boolean
  readonly isKept: boolean
}

/** Returns `undefined` when the usage is asked for. Throws for wrong options. */
export function parseOptions(args: readonly string[]): CompatOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { only, list: isList, keep: isKept, help } = values
  const unknown = only.find((name) => SERVERS.every((server) => server.name !== name))
  if (unknown !== undefined) {
    throw new UsageError(`there is no server "${unknown}"; --list prints all names`)
  }
  const servers = SERVERS.filter(({ name }) => only.length === 0 || only.includes(name))
  return help ? undefined : { servers, isList, isKept }
}
