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

test('what keeps it from trying is told once, and again when it had worked meanwhile', async () => {
  const told: unknown[] = []
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
    logger: { warn: ({ err }: { err: Error }) => told.push(err.message) },
  } as unknown as ObtainLeaseDeps
  const obtained = obtainLease(deps, 'server.test', options)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(['the broker is away'])
  answer = new Error('permission denied')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(['the broker is away', 'permission denied'])
  answer = undefined
  await vi.advanceTimersByTimeAsync(10_000)
  answer = new Error('the broker is away')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual(['the broker is away', 'permission denied', 'the broker is away'])
  const lease = { key: 'server.test' } as Lease
  answer = lease
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await obtained).toBe(lease)
})

describe('a lease that is free after an outage of the broker', () => {
  const lease = { key: 'server.test' } as Lease
  const deps = {
    bus: { id: 'us', sinceOutageMs: () => 10, leases: { acquire: async () => lease } },
    catalog: { entries: new Map() },
    leases: { holders: new Map() },
  } as unknown as ObtainLeaseDeps

  test('returns at once to who has its process', async () => {
    const obtained = obtainLease(deps, 'server.test', { ...options, isLeftover: () => true })
    await vi.advanceTimersByTimeAsync(0)
    expect(await obtained).toBe(lease)
  })

  test('is left to that one for a while by the others', async () => {
    let got: Lease | undefined
    void obtainLease(deps, 'server.test', options).then((obtained) => (got = obtained))
    await vi.advanceTimersByTimeAsync(STEADY_MS - 1)
    expect(got).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(got).toBe(lease)
  })
})
