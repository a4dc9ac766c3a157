import { expect, test } from 'vitest'

import { backoffMs } from './backoff.ts'

const pauses = (random: number): number[] =>
  [0, 1, 2, 3, 4, 5, 6].map((attempt) =>
    backoffMs(attempt, { firstMs: 1_000, maxMs: 30_000, random: () => random }),
  )

test('the pause doubles with each attempt, up to the longest', () => {
  expect(pauses(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('one half of the pause is random, the other is not', () => {
  expect(pauses(0)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000])
  expect(pauses(0.5)).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500])
})

test('without a given chance, two pauses differ', () => {
  const pause = (): number => backoffMs(0, { firstMs: 1_000, maxMs: 30_000 })
  expect(new Set(Array.from({ length: 20 }, pause)).size).toBeGreaterThan(1)
})

test('however many attempts there were, the pause is a number within its limits', () => {
  expect(backoffMs(5_000, { firstMs: 1_000, maxMs: 30_000, random: () => 1 })).toBe(30_000)
  expect(backoffMs(5_000, { firstMs: 0, maxMs: 30_000 })).toBe(0)
})
