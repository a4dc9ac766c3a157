import type { Lease } from '@mcp-host/bus'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ObtainLeaseDeps } from './obtain-lease.ts'
import { obtainLease } from './obtain-lease.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what keeps it from trying is told once, and again when it had worked meanwhile', async () => {
  const told: unknown[] = []
  let answer: Error | Lease | undefined = new Error('the broker is away')
  const deps = {
    bus: {
      id: 'us',
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
  const { signal } = new AbortController()
  const obtained = obtainLease(deps, 'server.test', { signal, onForeign: async () => undefined })
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
