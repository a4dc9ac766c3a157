import type { GuardedProcess, ProcessExit } from 'mcp-host/process'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Replica } from './replica.ts'

/** A process that does as it is told, or only SIGKILL. */
function fakeProcess(signals: string[], { obeys = true } = {}) {
  const ended = Promise.withResolvers<ProcessExit>()
  const end = (exit: ProcessExit): void => ended.resolve(exit)
  const process = {
    exited: ended.promise,
    gone: ended.promise,
    signal(signal: NodeJS.Signals) {
      signals.push(signal)
      if (signal === 'SIGKILL' || (signal === 'SIGTERM' && obeys)) end({ code: null, signal })
      return true
    },
  }
  // What a replica does not use is left out.
  // Only what a replica uses of it.
  return { process: process as unknown as GuardedProcess, end }
}

async function start(options?: { obeys: boolean }) {
  const signals: string[] = []
  const started: ReturnType<typeof fakeProcess>[] = []
  const replica = await Replica.start('one', () => {
    const next = fakeProcess(signals, options)
    started.push(next)
    return Promise.resolve(next.process)
  })
  return { replica, signals, started }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each(['kill', 'term'] as const)('after %s another one takes its place', async (kind) => {
  const { replica, signals, started } = await start()
  const suffered = replica.suffer({ kind, downMs: 500 })
  await vi.advanceTimersByTimeAsync(499)
  expect(started).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  await suffered
  expect(signals).toEqual([`SIG${kind.toUpperCase()}`])
  expect(started).toHaveLength(2)
  expect(replica.violations).toEqual([])
})

test('its data is struck while it is down', async () => {
  const { replica, signals, started } = await start()
  const strike = vi.fn(() => {
    expect([signals, started.length]).toEqual([['SIGKILL'], 1])
    return Promise.resolve()
  })
  const suffered = replica.suffer({ kind: 'kill', downMs: 500 }, strike)
  await vi.advanceTimersByTimeAsync(500)
  await suffered
  expect(strike).toHaveBeenCalledOnce()
  expect(started).toHaveLength(2)
})

test('the successor of the only one starts before it stops', async () => {
  const { replica, signals, started } = await start({ obeys: false })
  const suffered = replica.suffer({ kind: 'term-one-instance', downMs: 500 })
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toHaveLength(2)
  expect(signals).toEqual(['SIGTERM', 'SIGINT'])
  started[0]?.end({ code: 0, signal: null })
  await suffered
  expect(replica.violations).toEqual([])
})

test('a frozen one goes on after its time', async () => {
  const { replica, signals, started } = await start()
  const suffered = replica.suffer({ kind: 'stop', downMs: 8_000 })
  await vi.advanceTimersByTimeAsync(7_999)
  expect(signals).toEqual(['SIGSTOP'])
  await vi.advanceTimersByTimeAsync(1)
  await suffered
  expect(signals).toEqual(['SIGSTOP', 'SIGCONT'])
  expect(started).toHaveLength(1)
})

test('one that SIGTERM does not end is reported and killed', async () => {
  const { replica, signals, started } = await start({ obeys: false })
  const suffered = replica.suffer({ kind: 'term', downMs: 0 })
  await vi.advanceTimersByTimeAsync(31_999)
  expect(signals).toEqual(['SIGTERM'])
  await vi.advanceTimersByTimeAsync(1)
  await vi.advanceTimersByTimeAsync(1)
  await suffered
  expect(signals).toEqual(['SIGTERM', 'SIGKILL'])
  expect(started).toHaveLength(2)
  expect(replica.violations).toMatchObject([{ rule: 'does not stop', where: 'one' }])
})

test('one that ends by itself is reported and started again, unless it was released', async () => {
  const { replica, started } = await start()
  started[0]?.end({ code: 1, signal: null })
  await vi.waitFor(() => expect(started).toHaveLength(2))
  expect(replica.violations).toMatchObject([{ rule: 'ended by itself', detail: 'exit code 1' }])
  replica.release()
  started[1]?.end({ code: 1, signal: null })
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toHaveLength(2)
  expect(replica.violations).toHaveLength(1)
})

test('one that cannot be started is reported, and tried again with the next fault', async () => {
  const signals: string[] = []
  const starts = [
    () => Promise.resolve(fakeProcess(signals).process),
    () => Promise.reject(new Error('no')),
    () => Promise.resolve(fakeProcess(signals).process),
  ]
  const replica = await Replica.start(
    'one',
    () => starts.shift()?.() ?? Promise.reject(new Error()),
  )
  for (let fault = 0; fault < 2; fault++) {
    const suffered = replica.suffer({ kind: 'kill', downMs: 0 })
    await vi.advanceTimersByTimeAsync(0)
    await suffered
  }
  expect(replica.violations).toMatchObject([{ rule: 'does not start', detail: 'Error: no' }])
  expect(starts).toHaveLength(0)
})
