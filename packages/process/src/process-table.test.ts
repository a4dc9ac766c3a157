import { expect, test } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { startSleeping } from '../test/tagged.ts'
import { isStarting } from './process-table.ts'

test('a process without an environment counts as starting in its first second only', async () => {
  const pid = await startSleeping({})
  expect(isStarting(pid)).toBe(true)
  await eventually(() => !isStarting(pid))
})

test('a process with an environment, and one that is gone, are not starting', async () => {
  const pid = await startSleeping({ ANY: 'value' })
  expect(isStarting(pid)).toBe(false)
  expect(isStarting(process.pid)).toBe(false)
  process.kill(pid, 'SIGKILL')
  await eventually(() => !isStarting(pid))
})
