import { expect, test } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'

test('every line of the log names its component and its action', async () => {
  const stage = await HostStage.start(
    (workspace) => ({
      echo: workspace.fixture('echo'),
      noisy: workspace.fixture('noisy'),
      several: { ...workspace.fixture('named', 'it'), instances: 2 },
      broken: { ...workspace.fixture('silent'), args: ['-e', 'process.exit(1)'] },
    }),
    { startPolicy: 'best-effort' },
  )
  await stage.host.callTool('echo.echo', { text: 'x' })
  await stage.host.callTool('several.it')
  await stage.host.callTool('echo.mail', { to: 'a\0b' }).catch(() => undefined)
  await stage.host.callTool('echo.crash').catch(() => undefined)
  await stage.host.shutdown()
  for (const { fields, message } of stage.logged) {
    expect(fields, message).toMatchObject({
      component: expect.stringMatching(/./),
      action: expect.stringMatching(/./),
      server: expect.stringMatching(/./),
    })
  }
  const messages = new Set(stage.logged.map(({ message }) => message))
  expect(messages.size).toBeGreaterThan(6)
})

test('states are logged at the level info', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'it') }))
  expect(stage.lines('server state')).toMatchObject([
    {
      level: 'info',
      fields: { component: 'server', action: 'state', server: 'it', state: 'ready' },
    },
  ])
})

test('requests are logged at the level debug, with the ids that their caller set', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'it') }))
  const ids = { requestId: 'r1', sessionId: 's1', correlationId: 'c1' }
  await stage.host.callTool('it.it', {}, ids)
  expect(stage.lines('request ended')).toMatchObject([
    {
      level: 'debug',
      fields: { component: 'request', action: 'tools/call', server: 'it', ...ids },
    },
  ])
})

test('heartbeats are logged at the level trace', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: { ...workspace.fixture('named', 'it'), healthCheck: { intervalMs: 10 } },
  }))
  const beat = await eventually(() =>
    stage.logged.find(({ fields }) => fields['action'] === 'heartbeat'),
  )
  expect(beat).toMatchObject({ level: 'trace', fields: { component: 'server', server: 'it' } })
})
