import { beforeEach, afterEach, expect, test, vi } from 'vitest'
import { watchTable } from './watch-table.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('an outage is told once, with its time, and the list is shown again when it is over', async () => {
  vi.setSystemTime(new Date(2026, 0, 1, 14, 5, 9))
  const out: string[] = []
  let listener = (): void => undefined
  let table = 'one'
  let sinceOutage = Infinity
  const leave = new AbortController()
  const watched = watchTable({
    bus: { sinceOutageMs: () => sinceOutage },
    catalog: {
      entries: new Map(),
      onChange(onChange) {
        listener = onChange
        return { [Symbol.dispose]: () => undefined }
      },
    },
    show: () => table,
    print: (text) => void out.push(text),
    warn: (line) => void out.push(`! ${line}`),
    signal: leave.signal,
  })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(out).toEqual(['one'])
  table = 'two'
  listener()
  await vi.advanceTimersByTimeAsync(200)
  expect(out.splice(0)).toEqual(['one', 'two'])
  sinceOutage = 0
  await vi.advanceTimersByTimeAsync(10_000)
  expect(out.splice(0)).toEqual([
    expect.stringMatching(/^! nats-server does not answer; as of 14:05:\d\d$/),
  ])
  sinceOutage = 1
  await vi.advanceTimersByTimeAsync(2_000)
  expect(out).toEqual(['two'])
  leave.abort()
  await vi.advanceTimersByTimeAsync(2_000)
  await watched
})
