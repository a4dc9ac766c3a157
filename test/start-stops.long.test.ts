// Commands that are stopped at any moment, also long before they are ready.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { StartStage } from './start-stage.ts'

const stage = StartStage.forEachTest()

/** The processes whose environment names a data folder. Linux only. */
async function processesOn(dataDir: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((each) => /^\d+$/.test(each))
  const environs = await Promise.all(
    // A process may end meanwhile. That of a zombie is empty.
    pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
  )
  return pids.filter((_, index) => environs[index]?.includes(`DATA_DIR=${dataDir}\0`))
}

const evenly = (from: number, to: number, times: number): number[] =>
  Array.from({ length: times }, (_, index) => from + (index * (to - from)) / (times - 1))

/** Ctrl-C reaches the whole group, a supervisor stops one process. */
const WAYS = [
  ['SIGINT to the group', 'SIGINT', 130],
  ['SIGTERM to one process', 'SIGTERM', 143],
] as const

const COMMANDS: readonly (readonly [command: string, moments: readonly number[]])[] = [
  // Within the first tenth of a second one program replaces another.
  ['start', [...evenly(10, 120, 12), ...evenly(200, 4_000, 18)]],
  ['dev', evenly(50, 6_000, 4)],
  ['chaos --turns 20', evenly(50, 6_000, 4)],
  ['bench chat', evenly(50, 6_000, 4)],
  ['fuzz --minutes 1', evenly(50, 6_000, 4)],
  ['conformance', evenly(50, 6_000, 4)],
  ['test', evenly(50, 4_000, 4)],
]
const ROWS = COMMANDS.flatMap(([command, moments]) =>
  WAYS.map((way) => [command, ...way, moments] as const),
)

test.each(ROWS)(
  '%s ends soon after %s at any moment, and leaves nothing',
  async (command, _, signal, early, moments) => {
    for (const moment of moments) {
      const child = spawn(process.execPath, ['tools/run.mjs', ...command.split(' ')], {
        env: { ...process.env, ENV_FILE: 'none', ...stage.env },
        detached: true,
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      await delay(moment)
      process.kill(signal === 'SIGINT' ? -child.pid! : child.pid!, signal)
      const [code, by] = await Promise.race([
        ended,
        delay(15_000, ['late', 'late'], { ref: false }),
      ])
      const dataDir = stage.env['DATA_DIR'] ?? ''
      await eventually(async () => (await processesOn(dataDir)).length === 0, {
        what: `the end of all processes, stopped at ${moment} ms`,
      })
      // Before its first line Node ends by the signal itself, and a host that has begun stops in order.
      expect([0, early, signal], `stopped at ${moment} ms`).toContain(code ?? by)
    }
  },
  200_000,
)
