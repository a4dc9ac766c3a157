import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { eventually, isAlive, openWorkspace, type Workspace } from '@mcp-host/mcp-testkit'
import { launch } from '@mcp-host/process'

const PROGRAM = join(import.meta.dirname, '../test/fixtures/host-program.ts')

function startHost(workspace: Workspace, file: string): ChildProcess {
  return launch(process.execPath, [PROGRAM, file], {
    cwd: workspace.folder,
    env: process.env,
    detached: false,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

test('no process remains of a host that is killed with SIGKILL', async () => {
  const workspace = await openWorkspace()
  const { command, args } = workspace.fixture('stubborn', workspace.path('pids'))
  const servers = { one: { command, args }, two: { command, args } }
  const host = startHost(workspace, await workspace.write('mcp.json', { servers }))
  await eventually(async () => (await workspace.lines('pids')).length === 4)
  const pids = (await workspace.lines('pids')).map(Number)
  expect(pids.filter(isAlive)).toHaveLength(4)
  host.kill('SIGKILL')
  await eventually(() => pids.filter(isAlive).length === 0)
})

test('no process remains of a host that is killed while its servers start', async () => {
  // Each round kills the host at another stage of the start.
  for (let round = 0; round < 6; round += 1) {
    const workspace = await openWorkspace()
    const { command, args } = workspace.fixture('stubborn', workspace.path('pids'))
    const names = ['a', 'b', 'c', 'd']
    const servers = Object.fromEntries(names.map((name) => [name, { command, args }]))
    const host = startHost(workspace, await workspace.write('mcp.json', { servers }))
    const isStarting = () => workspace.processes().length > 1 + round
    await eventually(isStarting)
    host.kill('SIGKILL')
    await eventually(() => workspace.processes().length === 0)
  }
}, 60_000)

test('a host that SIGTERM ends takes its servers along', async () => {
  const workspace = await openWorkspace()
  const { command, args } = workspace.fixture('stubborn', workspace.path('pids'))
  const servers = { one: { command, args } }
  const host = startHost(workspace, await workspace.write('mcp.json', { servers }))
  await eventually(async () => (await workspace.lines('pids')).length === 2)
  host.kill('SIGTERM')
  await once(host, 'exit')
  await eventually(() => workspace.processes().length === 0)
})
