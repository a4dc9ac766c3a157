import type { GuardedProcess, ProcessExit } from '@mcp-host/process'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Replica } from './replica.ts'

/** A process that ends by SIGTERM and SIGKILL, or only by SIGKILL. */
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
  // A replica uses only these members.
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

test.each(['kill', 'term'] as const)('a process is replaced after %s', async (kind) => {
  const { replica, signals, started } = await start()
  const injection = replica.inject({ kind, downMs: 500 })
  await vi.advanceTimersByTimeAsync(499)
  expect(started).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  await injection
  expect(signals).toEqual([`SIG${kind.toUpperCase()}`])
  expect(started).toHaveLength(2)
  expect(replica.violations).toEqual([])
})

test('the data of a process is damaged while it is down', async () => {
  const { replica, signals, started } = await start()
  const damage = vi.fn(() => {
    expect([signals, started.length]).toEqual([['SIGKILL'], 1])
    return Promise.resolve()
  })
  const injection = replica.inject({ kind: 'kill', downMs: 500 }, damage)
  await vi.advanceTimersByTimeAsync(500)
  await injection
  expect(damage).toHaveBeenCalledOnce()
  expect(started).toHaveLength(2)
})

test('in a rolling restart the successor starts before the process stops', async () => {
  const { replica, signals, started } = await start({ obeys: false })
  const injection = replica.inject({ kind: 'term-one-instance', downMs: 500 })
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toHaveLength(2)
  expect(signals).toEqual(['SIGTERM', 'SIGINT'])
  started[0]?.end({ code: 0, signal: null })
  await injection
  expect(replica.violations).toEqual([])
})

test('a frozen process continues after its time', async () => {
  const { replica, signals, started } = await start()
  const injection = replica.inject({ kind: 'stop', downMs: 8_000 })
  await vi.advanceTimersByTimeAsync(7_999)
  expect(signals).toEqual(['SIGSTOP'])
  await vi.advanceTimersByTimeAsync(1)
  await injection
  expect(signals).toEqual(['SIGSTOP', 'SIGCONT'])
  expect(started).toHaveLength(1)
})

test('a process that SIGTERM does not end is reported and killed', async () => {
  const { replica, signals, started } = await start({ obeys: false })
  const injection = replica.inject({ kind: 'term', downMs: 0 })
  await vi.advanceTimersByTimeAsync(31_999)
  expect(signals).toEqual(['SIGTERM'])
  await vi.advanceTimersByTimeAsync(1)
  await vi.advanceTimersByTimeAsync(1)
  await injection
  expect(signals).toEqual(['SIGTERM', 'SIGKILL'])
  expect(started).toHaveLength(2)
  expect(replica.violations).toMatchObject([{ rule: 'does not stop', where: 'one' }])
})

test('a process that ends by itself is reported and restarted, unless it was released', async () => {
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

test('a process that cannot be started is reported, and started by the next fault', async () => {
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
    const injection = replica.inject({ kind: 'kill', downMs: 0 })
    await vi.advanceTimersByTimeAsync(0)
    await injection
  }
  expect(replica.violations).toMatchObject([{ rule: 'does not start', detail: 'Error: no' }])
  expect(starts).toHaveLength(0)
})
