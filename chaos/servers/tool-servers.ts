import { dirname } from 'node:path'
import { toolServer } from '@mcp-host/testkit'
import { SERVERS } from '../planned-turn.ts'

const inputSchema = { type: 'object', properties: { id: { type: 'string' } } }
/** The tools of each server. */
export const TOOLS = [
  { name: 'mark', inputSchema, delayMs: 200 },
  { name: 'look', inputSchema, delayMs: 200, annotations: { readOnlyHint: true } },
]

/** The number of tools of all servers. */
export const TOOL_COUNT = SERVERS.length * TOOLS.length

/** The folder of the program of all servers. */
export const PROGRAM_FOLDER = dirname(toolServer([], '').args[0])

/** The servers of `mcp.json`, which record each call in a file. `command`: the path of Node where they run. */
export function toolServers(
  journalFile: string,
  command = process.execPath,
): Readonly<Record<string, object>> {
  const server = { ...toolServer(TOOLS, journalFile), command }
  const [one, every] = SERVERS
  return { [one]: server, [every]: { ...server, placement: 'every' } }
}
