import { expect, test } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { LeftOut } from '@mcp-host/upstream'

test.each<[string, keyof LeftOut]>([
  ['logs', 'notices'],
  ['changes', 'notices'],
  ['resources', 'notices'],
  ['questions', 'requests'],
  ['answers', 'requests'],
  ['garbage', 'lines'],
  ['stderr', 'lines'],
])(
  'a server that floods the host with %s still answers, and dropped messages are counted',
  async (kind, what) => {
    const stage = await HostStage.start(
      (workspace) => ({
        it: workspace.fixture('pouring', kind),
        good: workspace.fixture('named', 'good'),
      }),
      { messageLimits: { noticesPerSecond: 10, requestsPerSecond: 10 } },
    )
    const { host } = stage
    const leftOut = (): number => host.getMetrics().servers['it']?.counters.leftOut[what] ?? 0
    await eventually(() => leftOut() > 100)
    for (let call = 0; call < 3; call += 1) {
      expect(await stage.call('it.say')).toBe('still here')
      expect(await stage.call('good.good')).toBe('good')
    }
    expect(host.getMetrics().servers['good']?.counters.leftOut).toEqual({
      notices: 0,
      requests: 0,
      messages: 0,
      lines: 0,
    })
    expect(stage.find('it')).toMatchObject({ state: 'ready', restarts: 0 })
    expect(stage.logged.length).toBeLessThan(2_000)
    const warning = what === 'lines' ? 'lines of its output are left out' : 'some are left out'
    await eventually(() => stage.lines(warning).length > 0)
    if (what !== 'lines') expect(stage.lines(warning)).toHaveLength(1)
  },
)

test('a server whose refused messages are too many is restarted with the reason', async () => {
  const stage = await HostStage.start(
    (workspace) => ({
      it: {
        ...workspace.fixture('pouring', 'logs'),
        restart: { policy: 'on-failure', maxRestarts: 1 },
      },
      good: workspace.fixture('named', 'good'),
    }),
    { messageLimits: { notificationBytes: 100, refusedBytesPerMinute: 100_000 } },
  )
  const gone = await eventually(() => {
    const { error, state } = stage.find('it')
    return state === 'unavailable' ? error : undefined
  })
  expect(gone?.message).toMatch(
    /^the server "it" sent messages of \d+ bytes within a minute that were refused/,
  )
  expect(await stage.call('good.good')).toBe('good')
  await eventually(() => stage.find('it').restarts === 1)
})

test('a result of too many content blocks fails only its call', async () => {
  const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'it') }), {
    messageLimits: { contentBlocks: 0 },
  })
  await expect(stage.host.callTool('it.it')).rejects.toMatchObject({
    name: 'ProtocolError',
    message: 'it.it answered with 1 content blocks, more than 0; ask for less at a time',
  })
  expect(stage.find('it')).toMatchObject({ state: 'ready' })
})
