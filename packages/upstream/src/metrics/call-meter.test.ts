import { expect, test } from 'vitest'

import { CallMeter } from './call-meter.ts'

test('all numbers are 0 before the first call', () => {
  expect(new CallMeter().snapshot()).toEqual({
    count: 0,
    success: 0,
    error: 0,
    cancelled: 0,
    refused: 0,
    inFlight: 0,
    latencyMs: { p50: 0, p95: 0, p99: 0, max: 0, mean: 0, buckets: expect.anything() },
  })
})

test('calls are counted by outcome, and while they run', () => {
  const meter = new CallMeter()
  for (let i = 0; i < 7; i += 1) meter.started()
  meter.ended('success', 10)
  meter.ended('success', 30)
  meter.ended('error', 20)
  meter.ended('cancelled', 0)
  meter.ended('refused', 0)
  expect(meter.snapshot()).toMatchObject({
    count: 5,
    success: 2,
    error: 1,
    cancelled: 1,
    refused: 1,
    inFlight: 2,
  })
})

test('latencies exclude calls that were cancelled or refused', () => {
  const meter = new CallMeter()
  for (const outcome of ['success', 'error', 'cancelled', 'refused'] as const) {
    meter.started()
    meter.ended(outcome, outcome === 'success' ? 10 : outcome === 'error' ? 20 : 1_000)
  }
  const { p50, p95, p99, max, mean } = meter.snapshot().latencyMs
  expect([p50, max, mean]).toEqual([10, 20, 15])
  expect([p95, p99].every((ms) => ms > 15 && ms <= 20)).toBe(true)
  expect(p99).toBeGreaterThan(p95)
})

test('latencies are counted in cumulative buckets', () => {
  const meter = new CallMeter()
  const counts = () => {
    const { buckets } = meter.snapshot().latencyMs
    return [4.7, 6.8, 10, Infinity].map(
      (bound) => buckets.find(({ leMs }) => leMs === bound)?.count,
    )
  }
  expect(counts()).toEqual([0, 0, 0, 0])
  for (const [outcome, ms] of [
    ['success', 5],
    ['error', 7],
    ['success', 1_000_000],
    ['cancelled', 5],
  ] as const) {
    meter.started()
    meter.ended(outcome, ms)
  }
  expect(counts()).toEqual([0, 1, 2, 3])
})

test('calls of a part are counted in the whole', () => {
  const whole = new CallMeter()
  const parts = [new CallMeter(whole), new CallMeter(whole)]
  for (const part of parts) part.started()
  parts[0]?.ended('success', 5)
  expect(whole.snapshot()).toMatchObject({ count: 1, success: 1, inFlight: 1 })
  expect(whole.snapshot().latencyMs.max).toBe(5)
  expect(parts[1]?.snapshot()).toMatchObject({ count: 0, inFlight: 1 })
})

test('the time of the latest start is known for a tool and for its server', () => {
  const total = new CallMeter()
  const meter = new CallMeter(total)
  expect(meter.snapshot()).not.toHaveProperty('lastUsedAt')
  const before = Date.now()
  meter.started()
  expect(meter.snapshot().lastUsedAt).toBeGreaterThanOrEqual(before)
  expect(total.snapshot().lastUsedAt).toBeGreaterThanOrEqual(before)
})
