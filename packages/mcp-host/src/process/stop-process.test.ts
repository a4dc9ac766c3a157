import { expect, test } from 'vitest'

import { eventually } from '../../test/eventually.ts'
import { isAlive } from '../../test/processes.ts'
import { openWorkspace } from '../../test/workspace.ts'
import { Guardian } from './guardian.ts'
import { type GuardedProcess, spawnGuarded } from './spawn-guarded.ts'
import { stopProcess } from './stop-process.ts'

const env = { PATH: process.env['PATH'] }
const graceMs = 30_000

/** Starts a script of node that has said that it is up. */
async function start(guardian: Guardian, script: string): Promise<GuardedProcess> {
  const args = ['-e', `${script}; console.log('up')`]
  const child = await spawnGuarded(guardian, { command: process.execPath, args, cwd: '/', env })
  await eventually(() => child.stdout?.read() as unknown)
  return child
}

test('a program that heeds the end of its input gets no signal', async () => {
  await using guardian = new Guardian()
  const child = await start(guardian, 'process.stdin.resume().on("end", () => process.exit(5))')
  expect(await stopProcess(child, { graceMs })).toEqual({ code: 5, signal: null })
})

test('a program that does not is told by SIGTERM', async () => {
  await using guardian = new Guardian()
  const deaf = 'setInterval(() => {}, 1e6); process.on("SIGTERM", () => process.exit(6))'
  const child = await start(guardian, deaf)
  expect(await stopProcess(child, { graceMs: 500 })).toEqual({ code: 6, signal: null })
})

test('a program that ignores both is killed with its family when the time is over', async () => {
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

test('a program that is gone already is stopped at once', async () => {
  await using guardian = new Guardian()
  const child = await spawnGuarded(guardian, { command: 'true', cwd: '/', env })
  await child.gone
  expect(await stopProcess(child, { graceMs })).toEqual({ code: 0, signal: null })
})
