import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Health } from './watch-health.ts'
import { watchHealth } from './watch-health.ts'

/** What becomes of each probe. */
let probe: (signal: AbortSignal) => Promise<Health | undefined>
let told: string[]
let watch: Disposable

const well = { isStopping: false }
const never = (): Promise<never> => new Promise(() => undefined)

beforeEach(() => {
  vi.useFakeTimers()
  told = []
  probe = async () => well
  watch = watchHealth({
    probe: (signal) => probe(signal),
    onStopping: () => told.push('stopping'),
    onFrozen: () => told.push('frozen'),
    onStuck: () => told.push('stuck'),
  })
})
afterEach(() => {
  watch[Symbol.dispose]()
  vi.useRealTimers()
})

test('a process that answers nothing for 10 s is frozen, and 5 s later stuck', async () => {
  await vi.advanceTimersByTimeAsync(60_000)
  probe = never
  await vi.advanceTimersByTimeAsync(9_000)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(['frozen'])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(told).toEqual(['frozen', 'stuck'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual(['frozen', 'stuck'])
})

test('a process that goes on after SIGTERM is not stuck', async () => {
  probe = never
  await vi.advanceTimersByTimeAsync(11_000)
  probe = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual(['frozen', 'stopping'])
})

test('a process that takes 9 s for each answer is not frozen', async () => {
  probe = () =>
    new Promise((resolve) => {
      setTimeout(resolve, 9_000, well)
    })
  await vi.advanceTimersByTimeAsync(120_000)
  expect(told).toEqual([])
})

test('a connection that is refused is no sign of a frozen process', async () => {
  probe = async () => undefined
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual([])
})

test('silence while the machine was suspended or too busy to run our own timer counts for nothing', async () => {
  probe = never
  for (let second = 0; second < 60; second += 8) {
    await vi.advanceTimersByTimeAsync(8_000)
    vi.setSystemTime(Date.now() + 3_000)
  }
  expect(told).toEqual([])
})

test('a stop is told once', async () => {
  probe = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual(['stopping'])
})

test('nothing is told of a process that is not watched any more', async () => {
  const answered = Promise.withResolvers<Health>()
  probe = () => answered.promise
  await vi.advanceTimersByTimeAsync(1_000)
  watch[Symbol.dispose]()
  answered.resolve({ isStopping: true })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual([])
})
