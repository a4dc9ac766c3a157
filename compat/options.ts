import { parseArgs } from 'node:util'
import type { RealServer } from './servers.ts'
import { SERVERS } from './servers.ts'

export const USAGE = `Usage: npm run compat -- [options]

Starts real MCP servers from npm, lists what they have and calls their safe tools, with versions 1 and 2 of the
TypeScript SDK: directly, at /mcp, and at /mcp/servers/<name>. Prints every difference; those that
compat/exceptions.ts lists are only counted. The servers are installed once, into the cache folder of mcp-host.

  --only NAME   this server; may be given several times
  --list        print the servers and leave
  --keep        keep the folder of logs also when nothing differs
  --help        this text

Exit code: 0 when nothing differs but what is listed, 1 otherwise, 2 for faulty options.`

export interface CompatOptions {
  readonly servers: readonly RealServer[]
  readonly isHelp: boolean
  readonly isList: boolean
  readonly isKept: boolean
}

export type ParsedOptions = CompatOptions | { readonly problem: string }

export function parseOptions(args: readonly string[]): ParsedOptions {
  let values
  try {
    values = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true, default: [] },
        list: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    // It says which option is not known.
    return { problem: (error as Error).message }
  }
  const { only } = values
  const unknown = only.find((name) => SERVERS.every((server) => server.name !== name))
  if (unknown !== undefined) {
    return { problem: `there is no server "${unknown}"; --list prints all names` }
  }
  const servers = SERVERS.filter(({ name }) => only.length === 0 || only.includes(name))
  return { servers, isHelp: values.help, isList: values.list, isKept: values.keep }
}
