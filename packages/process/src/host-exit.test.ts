import { once } from 'node:events'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { eventually, isAlive, openWorkspace } from '@mcp-host/mcp-testkit'
import { launch } from './launch.ts'

const HOST = join(import.meta.dirname, '../test/ending-host.ts')

test.each(
  [
    { fixture: 'stubborn', count: 2 },
    { fixture: 'nasty/strays', count: 3 },
  ].flatMap((row) => ['exit', 'throw', 'SIGTERM', 'SIGKILL'].map((ending) => ({ ...row, ending }))),
)(
  'no process of $fixture remains when its host ends by $ending',
  async ({ fixture, count, ending }) => {
    const workspace = await openWorkspace()
    const { command, args } = workspace.fixture(fixture, workspace.path('pids'))
    const host = launch(process.execPath, [HOST, ending, command, ...args], {
      env: { PATH: process.env['PATH'] },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: false,
    })
    await eventually(async () => (await workspace.lines('pids')).length === count)
    const pids = (await workspace.lines('pids')).map(Number)
    expect(pids.filter(isAlive)).toHaveLength(count)
    host.stdin?.end()
    await once(host, 'exit')
    await eventually(() => pids.filter(isAlive).length === 0)
  },
)
