import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PERIOD_MS, ProgressReporter } from './report-progress.ts'

let told: unknown[]
let reporter: ProgressReporter
beforeEach(() => {
  vi.useFakeTimers()
  told = []
  reporter = new ProgressReporter((report) => told.push(report))
})
afterEach(() => void vi.useRealTimers())

test('the first progress goes out at once, then the latest of each period', () => {
  for (let progress = 1; progress <= 5; progress++) reporter.push({ progress, total: 9 })
  expect(told).toEqual([{ progress: 1, total: 9 }])
  vi.advanceTimersByTime(PERIOD_MS)
  expect(told.slice(1)).toEqual([{ progress: 5, total: 9 }])
  vi.advanceTimersByTime(10 * PERIOD_MS)
  expect(told).toHaveLength(2)
  reporter.push({ progress: 6 })
  expect(told.at(-1)).toEqual({ progress: 6 })
})

test('progress that is held back when the call ends is dropped', () => {
  reporter.push({ progress: 1 })
  reporter.push({ progress: 2 })
  reporter[Symbol.dispose]()
  vi.advanceTimersByTime(10 * PERIOD_MS)
  expect(told).toEqual([{ progress: 1 }])
})

test('a report without a number is ignored, and a long message is cut', () => {
  reporter.push({ progress: '1' })
  reporter.push({ progress: Number.NaN })
  expect(told).toEqual([])
  reporter.push({ progress: 1, total: 'many', message: 'x'.repeat(10_000) })
  expect(told).toEqual([{ progress: 1, message: 'x'.repeat(500) }])
})
