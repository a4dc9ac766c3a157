import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import type { Requirements } from './cells.ts'
import type { Totals } from './results.ts'
import { readTotals } from './results.ts'

const manifest = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/conformance/package.json',
)
const program = join(dirname(manifest), 'dist', 'index.js')

export interface SuiteOptions {
  readonly url: string
  readonly requirements: Requirements
  /** Folder for the output and the results of each scenario. */
  readonly folder: string
}

/** Runs the suite for servers in a separate process. */
export async function runSuite({ url, requirements, folder }: SuiteOptions): Promise<Totals> {
  await mkdir(folder, { recursive: true })
  await using guardian = new Guardian()
  const child = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [program, 'server', '--url', url, '--requirements', requirements, '-o', folder],
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdin: 'ignore',
  })
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('the suite has no output')
  const [output, errors] = await Promise.all([text(stdout), text(stderr)])
  await writeFile(join(folder, 'output.txt'), output + errors)
  // The exit code only reflects the scored scenarios.
  await child.exited
  return readTotals(output + errors)
}
