import { expect, test } from 'vitest'
import { delayUntil } from './delay-until.ts'

test('a timer that fires early is followed by another one', async () => {
  const times = [998, 999, 1_000]
  await delayUntil(1_000, () => times.shift() ?? 0)
  expect(times).toEqual([])
})

test('a time that has passed needs no timer', async () => {
  const times = [1_001, 1_001]
  await delayUntil(1_000, () => times.shift() ?? 0)
  expect(times).toEqual([1_001])
})
