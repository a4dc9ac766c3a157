import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Guardian } from '@mcp-host/process'
import { spawnGuarded } from '@mcp-host/process'
import type { FixtureEra } from './fixture/options.ts'

const program = join(import.meta.dirname, 'fixture', 'main.ts')

/** An entry of `mcp.json` that starts the fixture over stdio. */
export function fixtureCommand(era: FixtureEra): object {
  return { command: process.execPath, args: [program, era] }
}

/** Starts the fixture over HTTP. Resolves with its URL. */
export async function startFixture(guardian: Guardian, era: FixtureEra): Promise<string> {
  const child = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [program, era, '--http', '0'],
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'] },
    stdin: 'ignore',
    stderr: 'inherit',
  })
  if (child.stdout === null) throw new Error('the fixture has no output')
  const lines = createInterface({ input: child.stdout })
  const ended = child.exited.then(({ code }) => {
    throw new Error(`the fixture ended with ${code}`)
  })
  // The first line is the URL.
  const [url] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  return url
}
