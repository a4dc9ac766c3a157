import { expect, test, vi } from 'vitest'

import { coalesce } from './coalesce.ts'

test('requests during a run are coalesced into one more run', async () => {
  const gates: PromiseWithResolvers<void>[] = []
  const run = coalesce(
    () => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      return gate.promise
    },
    { gapMs: 1 },
  )
  const first = run()
  const others = [run(), run(), run()]
  expect(gates).toHaveLength(1)
  gates[0]?.resolve()
  await first
  await vi.waitUntil(() => gates.length === 2)
  gates[1]?.resolve()
  await Promise.all(others)
  expect(gates).toHaveLength(2)
})

test('a run that fails does not stop the next', async () => {
  let count = 0
  const run = coalesce(
    async () => {
      count += 1
      if (count === 1) throw new Error('once')
    },
    { gapMs: 1 },
  )
  const [first, second] = [run(), run()]
  await expect(first).rejects.toThrow('once')
  await second
  expect(count).toBe(2)
})

test('frequent requests run no more often than the gap allows', async () => {
  vi.useFakeTimers()
  let count = 0
  const run = coalesce(async () => void (count += 1), { gapMs: 100 })
  await run()
  for (let i = 0; i < 50; i += 1) {
    void run()
    await vi.advanceTimersByTimeAsync(10)
  }
  vi.useRealTimers()
  expect(count).toBeGreaterThan(3)
  expect(count).toBeLessThan(8)
})

test('the gap doubles under continuous requests, and is reset after a pause', async () => {
  vi.useFakeTimers()
  const startedAt: number[] = []
  const run = coalesce(async () => void startedAt.push(Date.now()), { gapMs: 100, maxGapMs: 400 })
  const begin = Date.now()
  const interval = setInterval(() => void run(), 10)
  await vi.advanceTimersByTimeAsync(1_500)
  clearInterval(interval)
  expect(startedAt.map((at) => Math.round((at - begin) / 100))).toEqual([0, 1, 3, 7, 11])
  await vi.advanceTimersByTimeAsync(2_000)
  startedAt.length = 0
  void run()
  void run()
  await vi.advanceTimersByTimeAsync(100)
  expect(startedAt).toHaveLength(2)
  vi.useRealTimers()
})
