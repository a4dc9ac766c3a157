import { beforeEach, expect, test } from 'vitest'

import { LatencyHistogram } from './latency-histogram.ts'

let histogram: LatencyHistogram

beforeEach(() => {
  histogram = new LatencyHistogram()
})

test('an empty histogram has no quantiles', () => {
  expect(histogram.quantile(0.5)).toBeUndefined()
  expect([histogram.count, histogram.sumMs, histogram.maxMs]).toEqual([0, 0, 0])
})

test('a histogram has the count, the sum and the maximum', () => {
  for (const ms of [3, 1, 2]) histogram.record(ms)
  expect([histogram.count, histogram.sumMs, histogram.maxMs]).toEqual([3, 6, 3])
})

test('buckets are cumulative, with rounded bounds from 0.1 ms to 680 s, and one without a bound', () => {
  const bounds = histogram.buckets().map(({ leMs }) => leMs)
  expect(bounds.slice(0, 8)).toEqual([0.1, 0.15, 0.22, 0.33, 0.47, 0.68, 1, 1.5])
  expect(bounds.slice(-3)).toEqual([470_000, 680_000, Infinity])
  expect(bounds).toEqual(bounds.toSorted((a, b) => a - b))
  for (const ms of [0, 5, 6, 1_000_000]) histogram.record(ms)
  const counts = histogram.buckets().filter(({ leMs }) => [0.1, 4.7, 6.8, Infinity].includes(leMs))
  expect(counts.map(({ count }) => count)).toEqual([1, 1, 3, 4])
})

test('a latency equal to a bound counts within it', () => {
  for (const { leMs } of histogram.buckets().slice(0, -1)) histogram.record(leMs)
  const counts = histogram.buckets().map(({ count }) => count)
  expect(counts.slice(0, -1)).toEqual(counts.slice(0, -1).map((_, bucket) => bucket + 1))
})

test('a quantile is as exact as its bucket is narrow', () => {
  for (let ms = 1; ms <= 10_000; ms += 1) histogram.record(ms)
  for (const q of [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 1]) {
    const exact = q * 10_000
    expect(histogram.quantile(q)).toBeGreaterThan(exact * 0.95)
    expect(histogram.quantile(q)).toBeLessThan(exact * 1.05)
  }
})

test('a quantile is at most the maximum, and not in an empty bucket', () => {
  histogram.record(4.8)
  histogram.record(900_000)
  expect(histogram.quantile(0.5)).toBeCloseTo(6.8)
  expect(histogram.quantile(1)).toBe(900_000)
  expect(histogram.quantile(0)).toBeCloseTo(4.7)
  expect(histogram.quantile(0.75)).toBeGreaterThan(680_000)
})

test('a quantile of one record lies between the bound of its bucket and the record', () => {
  histogram.record(5)
  expect(histogram.quantile(0.99)).toBeGreaterThan(4.7)
  expect(histogram.quantile(0.99)).toBeLessThanOrEqual(5)
})
