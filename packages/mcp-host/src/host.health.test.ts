import { expect, test } from 'vitest'

import { startCalls } from '../test/calls-stage.ts'
import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'

test('the health of a server falls with its failures, and is 0 while it is not ready', async () => {
  const begin = Date.now()
  const stage = await startCalls()
  expect(stage.find('it').health).toEqual({ score: 1, checkedAt: expect.any(Number) })

  const late = stage.host.callTool('it.hold', {}, { timeoutMs: 50 })
  await expect(late).rejects.toMatchObject({ code: 'timeout' })
  const { score = 0, checkedAt = 0 } = stage.find('it').health ?? {}
  expect(score).toBeGreaterThan(0)
  expect(score).toBeLessThan(1)
  expect(checkedAt).toBeGreaterThanOrEqual(begin)

  process.kill(stage.find('it').pid ?? 0, 'SIGKILL')
  await eventually(() => stage.find('it').state === 'unavailable')
  expect(stage.find('it').health?.score).toBe(0)
})

test('the health of a server with instances is their average', async () => {
  const stage = await HostStage.start((workspace) => ({
    it: { ...workspace.fixture('named', 'it'), instances: 2 },
  }))
  await eventually(() => stage.find('it').health?.score === 1)
  process.kill(stage.find('it').instances?.[1]?.pid ?? 0, 'SIGKILL')
  await eventually(() => stage.find('it').health?.score === 0.5)
})
