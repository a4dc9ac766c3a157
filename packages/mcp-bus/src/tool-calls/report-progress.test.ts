import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PERIOD_MS, ProgressReporter } from './report-progress.ts'

let reports: unknown[]
let reporter: ProgressReporter
beforeEach(() => {
  vi.useFakeTimers()
  reports = []
  reporter = new ProgressReporter((report) => reports.push(report))
})
afterEach(() => void vi.useRealTimers())

test('the first progress is reported at once, then the latest of each period', () => {
  for (let progress = 1; progress <= 5; progress++) reporter.push({ progress, total: 9 })
  expect(reports).toEqual([{ progress: 1, total: 9 }])
  vi.advanceTimersByTime(PERIOD_MS)
  expect(reports.slice(1)).toEqual([{ progress: 5, total: 9 }])
  vi.advanceTimersByTime(10 * PERIOD_MS)
  expect(reports).toHaveLength(2)
  reporter.push({ progress: 6 })
  expect(reports.at(-1)).toEqual({ progress: 6 })
})

test('progress that waits for the end of a period is dropped when the call ends', () => {
  reporter.push({ progress: 1 })
  reporter.push({ progress: 2 })
  reporter[Symbol.dispose]()
  vi.advanceTimersByTime(10 * PERIOD_MS)
  expect(reports).toEqual([{ progress: 1 }])
})

test('progress without a number is ignored, and a long message is cut', () => {
  reporter.push({ progress: '1' })
  reporter.push({ progress: Number.NaN })
  expect(reports).toEqual([])
  reporter.push({ progress: 1, total: 'many', message: 'x'.repeat(10_000) })
  expect(reports).toEqual([{ progress: 1, message: 'x'.repeat(500) }])
})
