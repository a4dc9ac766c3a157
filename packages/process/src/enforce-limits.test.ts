import { expect, onTestFinished, test } from 'vitest'

import { eventually, fixturePath, openWorkspace } from '@mcp-host/mcp-testkit'
import { type Logger, silentLogger } from './logger.ts'
import { stopProcess } from './stop-process.ts'
import { enforceLimits, type ResourceLimits } from './enforce-limits.ts'
import { Guardian } from './guardian.ts'
import { readProcess, readTag, visitProcesses } from './process-table.ts'
import { type GuardedProcess, spawnGuarded } from './spawn-guarded.ts'

/** Longer than a debt can last. */
const PAUSE_LIMIT_MS = 20_000

async function start(
  name: string,
  limits: ResourceLimits,
  location: 'itself' | 'outside' = 'itself',
) {
  const workspace = await openWorkspace()
  const guardian = new Guardian()
  onTestFinished(() => guardian[Symbol.asyncDispose]())
  const program = [process.execPath, fixturePath(`nasty/${name}`), workspace.path('end')]
  // Outside: a session of its own, started by a program that does nothing else.
  const wrapper =
    location === 'itself' ? [] : ['/bin/sh', '-c', 'exec 3<&0; setsid "$@" <&3 & wait', 'sh']
  const [command = '', ...args] = [...wrapper, ...program]
  const env = { PATH: process.env['PATH'] }
  const child = await spawnGuarded(guardian, { command, args, cwd: workspace.folder, env })
  const reasons: string[] = []
  const onExceeded = (reason: string): void => void reasons.push(reason)
  const limit = enforceLimits(child, limits, { logger: silentLogger, onExceeded })
  return { child, limit, reasons }
}

/** Whether all processes of the fixture are paused. */
async function isPaused(child: GuardedProcess): Promise<boolean> {
  const states: (string | undefined)[] = []
  await visitProcesses((pid) => {
    if (readTag(pid) === child.tag) states.push(readProcess(pid)?.state)
  })
  return states.length > 0 && states.every((state) => state === 'T')
}

test.each(['itself', 'outside'] as const)(
  'a program that uses too much memory %s is killed with the reason',
  async (location) => {
    const { child, reasons } = await start('hoard', { memoryBytes: 200_000_000 }, location)
    expect(await child.gone).toEqual({ code: null, signal: 'SIGKILL' })
    expect(reasons).toEqual([
      expect.stringMatching(/^used (?!200 )[2-9]\d\d MB, more than its limit of 200 MB$/),
    ])
  },
)

test.each(['itself', 'outside'] as const)(
  'a program that uses too much CPU %s is paused repeatedly',
  async (location) => {
    const { child, reasons } = await start('burn', { cpuPercent: 10 }, location)
    await eventually(() => isPaused(child), PAUSE_LIMIT_MS)
    await eventually(async () => !(await isPaused(child)), PAUSE_LIMIT_MS)
    await eventually(() => isPaused(child), PAUSE_LIMIT_MS)
    expect(reasons).toEqual([])
  },
  2 * PAUSE_LIMIT_MS,
)

test.each(['itself', 'outside'] as const)(
  'a program that uses CPU %s is resumed when its limits end',
  async (location) => {
    const { child, limit } = await start('burn', { cpuPercent: 5 }, location)
    await eventually(() => isPaused(child))
    limit[Symbol.dispose]()
    expect(await isPaused(child)).toBe(false)
  },
)

test('a paused program is resumed when it is stopped', async () => {
  const { child } = await start('burn', { cpuPercent: 5 })
  await eventually(() => isPaused(child))
  const stopped = stopProcess(child, { graceMs: 30_000 })
  expect(await isPaused(child)).toBe(false)
  expect(await stopped).toEqual({ code: 5, signal: null })
})

test('limits are not enforced on other platforms than Linux, with a warning', async () => {
  await using guardian = new Guardian()
  const child = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env: process.env })
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (_, message) => void warnings.push(message) }
  enforceLimits(child, { memoryBytes: 1 }, { logger, platform: 'darwin' })
  expect(warnings).toEqual(['limits of memory and CPU are enforced only on Linux'])
  child.stdin?.end()
  expect(await child.gone).toEqual({ code: 0, signal: null })
})
