import type { Lease } from '@mcp-host/bus'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ObtainLeaseDeps } from './obtain-lease.ts'
import { obtainLease } from './obtain-lease.ts'
import { STEADY_MS } from './peers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const options = {
  signal: new AbortController().signal,
  isLeftover: () => false,
  onForeign: async () => undefined,
}

test('an error of acquiring a lease is logged once until the next success', async () => {
  const logged: unknown[] = []
  let answer: Error | Lease | undefined = new Error('the broker is away')
  const deps = {
    bus: {
      id: 'us',
      sinceOutageMs: () => Infinity,
      leases: {
        async acquire() {
          if (answer instanceof Error) throw answer
          return answer
        },
      },
    },
    catalog: { entries: new Map() },
    leases: { holders: new Map() },
    logger: { warn: ({ err }: { err: Error }) => logged.push(err.message) },
    // obtainLease uses only these members.
  } as unknown as ObtainLeaseDeps
  const obtained = obtainLease(deps, 'server.test', options)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(logged).toEqual(['the broker is away'])
  answer = new Error('permission denied')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(logged).toEqual(['the broker is away', 'permission denied'])
  answer = undefined
  await vi.advanceTimersByTimeAsync(10_000)
  answer = new Error('the broker is away')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(logged).toEqual(['the broker is away', 'permission denied', 'the broker is away'])
  const lease = { key: 'server.test' } as Lease
  answer = lease
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await obtained).toBe(lease)
})

describe('leases that are free after an outage of the broker', () => {
  const lease = { key: 'server.test' } as Lease
  const deps = {
    bus: { id: 'us', sinceOutageMs: () => 10, leases: { acquire: async () => lease } },
    catalog: { entries: new Map() },
    leases: { holders: new Map() },
    // obtainLease uses only these members.
  } as unknown as ObtainLeaseDeps

  test('a supervisor that runs the process acquires its free lease at once', async () => {
    const obtained = obtainLease(deps, 'server.test', { ...options, isLeftover: () => true })
    await vi.advanceTimersByTimeAsync(0)
    expect(await obtained).toBe(lease)
  })

  test('a supervisor without the process waits before it acquires a lease that an outage freed', async () => {
    let acquired: Lease | undefined
    void obtainLease(deps, 'server.test', options).then((obtained) => (acquired = obtained))
    await vi.advanceTimersByTimeAsync(STEADY_MS - 1)
    expect(acquired).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(acquired).toBe(lease)
  })
})
