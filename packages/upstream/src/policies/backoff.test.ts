import { expect, test } from 'vitest'

import { backoffMs } from './backoff.ts'

const delays = (random: number): number[] =>
  [0, 1, 2, 3, 4, 5, 6].map((attempt) =>
    backoffMs(attempt, { firstMs: 1_000, maxMs: 30_000, random: () => random }),
  )

test('the delay doubles with each attempt, up to the maximum', () => {
  expect(delays(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('half of the delay is random', () => {
  expect(delays(0)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  expect(delays(0.5)).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500])
})

test('two delays differ by default', () => {
  const delay = (): number => backoffMs(0, { firstMs: 1_000, maxMs: 30_000 })
  expect(new Set(Array.from({ length: 20 }, delay)).size).toBeGreaterThan(1)
})

test('the delay is within its limits after any number of attempts', () => {
  expect(backoffMs(5_000, { firstMs: 1_000, maxMs: 30_000, random: () => 1 })).toBe(30_000)
  expect(backoffMs(5_000, { firstMs: 0, maxMs: 30_000 })).toBe(0)
})
