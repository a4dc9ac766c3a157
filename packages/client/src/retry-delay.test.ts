import { expect, test } from 'vitest'
import { retryDelayMs } from './retry-delay.ts'

test('the delay before another attempt doubles up to ten seconds', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => retryDelayMs(attempt, () => 1))
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
})

test('clients that lost their connection together come back one by one', () => {
  const delays = Array.from({ length: 100 }, () => retryDelayMs(7))
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000)
  expect(Math.max(...delays)).toBeLessThanOrEqual(10_000)
  expect(new Set(delays).size).toBeGreaterThan(50)
})
