import { expect, test } from 'vitest'

import { timeLimit } from './time-limit.ts'

test.each([0.5, -1, 0])('a limit of %d ms aborts', async (ms) => {
  const limit = timeLimit(ms)
  await expect.poll(() => limit.aborted).toBe(true)
  expect(limit.reason).toMatchObject({ name: 'TimeoutError' })
})

test('a limit longer than a timer can hold does not abort', async () => {
  const limits = [2 ** 31, Infinity].map(timeLimit)
  const short = timeLimit(1)
  await expect.poll(() => short.aborted).toBe(true)
  expect(limits.map(({ aborted }) => aborted)).toEqual([false, false])
})
