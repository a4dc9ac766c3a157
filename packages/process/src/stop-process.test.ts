import { expect, test } from 'vitest'

import { eventually, isAlive, openWorkspace } from '@mcp-host/mcp-testkit'
import { Guardian } from './guardian.ts'
import { type GuardedProcess, spawnGuarded } from './spawn-guarded.ts'
import { stopProcess } from './stop-process.ts'

const env = { PATH: process.env['PATH'] }
const graceMs = 30_000

/** Starts a Node script and waits until it runs. */
async function start(guardian: Guardian, script: string): Promise<GuardedProcess> {
  const args = ['-e', `${script}; console.log('up')`]
  const child = await spawnGuarded(guardian, { command: process.execPath, args, cwd: '/', env })
  await eventually(() => child.stdout?.read() as unknown)
  return child
}

test('a program that exits at the end of its input gets no signal', async () => {
  await using guardian = new Guardian()
  const child = await start(guardian, 'process.stdin.resume().on("end", () => process.exit(5))')
  expect(await stopProcess(child, { graceMs })).toEqual({ code: 5, signal: null })
})

test('a program that ignores the end of its input gets SIGTERM', async () => {
  await using guardian = new Guardian()
  const ignoring = 'setInterval(() => {}, 1e6); process.on("SIGTERM", () => process.exit(6))'
  const child = await start(guardian, ignoring)
  expect(await stopProcess(child, { graceMs: 500 })).toEqual({ code: 6, signal: null })
})

test('a program that ignores SIGTERM is killed with its children when the grace period is over', async () => {
  const workspace = await openWorkspace()
  await using guardian = new Guardian()
  const fixture = workspace.fixture('stubborn', workspace.path('pids'))
  const child = await spawnGuarded(guardian, { ...fixture, env })
  await eventually(async () => (await workspace.lines('pids')).length === 2)
  const pids = (await workspace.lines('pids')).map(Number)
  const startedAt = performance.now()
  expect(await stopProcess(child, { graceMs: 300 })).toEqual({ code: null, signal: 'SIGKILL' })
  expect(performance.now() - startedAt).toBeGreaterThan(290)
  expect(pids.filter(isAlive)).toEqual([])
})

test('a program that has ended is stopped at once', async () => {
  await using guardian = new Guardian()
  const child = await spawnGuarded(guardian, { command: 'true', cwd: '/', env })
  await child.gone
  expect(await stopProcess(child, { graceMs })).toEqual({ code: 0, signal: null })
})
