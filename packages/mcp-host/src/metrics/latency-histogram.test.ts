import { beforeEach, expect, test } from 'vitest'

import { LatencyHistogram } from './latency-histogram.ts'

let histogram: LatencyHistogram

beforeEach(() => {
  histogram = new LatencyHistogram()
})

test('before the first record there is no quantile', () => {
  expect(histogram.quantile(0.5)).toBeUndefined()
  expect([histogram.count, histogram.sumMs, histogram.maxMs]).toEqual([0, 0, 0])
})

test('it counts, adds up, and remembers the longest', () => {
  for (const ms of [3, 1, 2]) histogram.record(ms)
  expect([histogram.count, histogram.sumMs, histogram.maxMs]).toEqual([3, 6, 3])
})

test('the buckets are cumulative, short numbers from 0.1 ms to 680 s, then without end', () => {
  const bounds = histogram.buckets().map(({ leMs }) => leMs)
  expect(bounds.slice(0, 8)).toEqual([0.1, 0.15, 0.22, 0.33, 0.47, 0.68, 1, 1.5])
  expect(bounds.slice(-3)).toEqual([470_000, 680_000, Infinity])
  expect(bounds).toEqual(bounds.toSorted((a, b) => a - b))
  for (const ms of [0, 5, 6, 1_000_000]) histogram.record(ms)
  const counts = histogram.buckets().filter(({ leMs }) => [0.1, 4.7, 6.8, Infinity].includes(leMs))
  expect(counts.map(({ count }) => count)).toEqual([1, 1, 3, 4])
})

test('what takes exactly as long as a bound counts as within it', () => {
  for (const { leMs } of histogram.buckets().slice(0, -1)) histogram.record(leMs)
  const counts = histogram.buckets().map(({ count }) => count)
  expect(counts.slice(0, -1)).toEqual(counts.slice(0, -1).map((_, bucket) => bucket + 1))
})

test('a quantile is as near to the truth as its bucket is wide', () => {
  for (let ms = 1; ms <= 10_000; ms += 1) histogram.record(ms)
  for (const q of [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 1]) {
    const exact = q * 10_000
    expect(histogram.quantile(q)).toBeGreaterThan(exact * 0.95)
    expect(histogram.quantile(q)).toBeLessThan(exact * 1.05)
  }
})

test('no quantile is longer than the longest, or in a bucket that is empty', () => {
  histogram.record(4.8)
  histogram.record(900_000)
  expect(histogram.quantile(0.5)).toBeCloseTo(6.8)
  expect(histogram.quantile(1)).toBe(900_000)
  expect(histogram.quantile(0)).toBeCloseTo(4.7)
  expect(histogram.quantile(0.75)).toBeGreaterThan(680_000)
})

test('the quantiles of one record lie between its bucket and itself', () => {
  histogram.record(5)
  expect(histogram.quantile(0.99)).toBeGreaterThan(4.7)
  expect(histogram.quantile(0.99)).toBeLessThanOrEqual(5)
})
