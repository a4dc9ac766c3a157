import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * An entry of an `mcp.json`: a server with apps, some of them hostile, which records the calls of its tools in a file.
 * `url`: of a host that the hostile ones try to reach.
 */
export function appServer(reportFile: string, url: string): object {
  const program = join(import.meta.dirname, '..', 'fixtures', 'app-server.ts')
  return { command: process.execPath, args: [program, reportFile, url] }
}

/** The number of its tools. */
export const APP_TOOLS = 12

/** A call of a tool of the server, with its arguments. */
export interface AppReport {
  readonly tool: string
  readonly name?: string
  readonly outcome?: string
}

/** The calls that a server with apps has recorded. */
export async function readReports(reportFile: string): Promise<AppReport[]> {
  const text = await readFile(reportFile, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AppReport)
}
