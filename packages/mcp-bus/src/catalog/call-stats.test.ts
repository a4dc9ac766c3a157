import { expect, test } from 'vitest'
import { CallStats } from './call-stats.ts'

test('statistics have no latencies before the first call', () => {
  expect(new CallStats().snapshot()).toEqual({ calls: 0, errors: 0, inFlight: 0 })
})

test('a call counts as in flight from its start to its end', () => {
  const stats = new CallStats()
  stats.started()
  stats.started()
  stats.ended('error', 4)
  expect(stats.snapshot()).toEqual({ calls: 1, errors: 1, inFlight: 1, p50Ms: 4, p95Ms: 4 })
})

test('a cancelled call is not counted as an error', () => {
  const stats = new CallStats()
  stats.started()
  stats.ended('cancelled', 4)
  expect(stats.snapshot()).toMatchObject({ calls: 1, errors: 0, inFlight: 0 })
})

test('latency percentiles cover the latest calls only', () => {
  const stats = new CallStats()
  for (let index = 0; index < 2_000; index++) stats.ended('ok', 1_000)
  for (let index = 1; index <= 500; index++) stats.ended('ok', index)
  expect(stats.snapshot()).toMatchObject({ calls: 2_500, errors: 0, p50Ms: 251, p95Ms: 476 })
})
