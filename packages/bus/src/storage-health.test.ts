import { errors } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { StorageHealthDeps } from './storage-health.ts'
import { StorageHealth } from './storage-health.ts'

/** Ends the writes in flight without an answer. */
let timeOut: (() => void)[]
let health: StorageHealth
let write: (subject: string) => Promise<unknown>
beforeEach(() => {
  vi.useFakeTimers()
  timeOut = []
  // Of the client, the health uses this function alone.
  const jetstream = {
    publish: async () => {
      const { promise, reject } = Promise.withResolvers<never>()
      timeOut.push(() => reject(new errors.TimeoutError()))
      return promise
    },
  } as unknown as StorageHealthDeps['jetstream']
  health = new StorageHealth({
    jetstream,
    manager: {} as StorageHealthDeps['manager'],
    replicas: 1,
    canPurge: false,
    isConnected: () => true,
    onFault: () => undefined,
  })
  write = (subject) => jetstream.publish(subject).catch(() => undefined)
})
afterEach(() => {
  health[Symbol.dispose]()
  vi.useRealTimers()
})

async function unanswered(written: Promise<unknown>): Promise<void> {
  for (const end of timeOut.splice(0)) end()
  await written
}

test('writes without an answer are a fault after some time, until nats-server was restarted', async () => {
  const first = write('$KV.LEASES.one')
  await vi.advanceTimersByTimeAsync(5_000)
  await unanswered(first)
  expect(health.fault()).toContain('does not confirm')
  health.reset()
  expect(health.fault()).toBeUndefined()
})

test('a write that began before a restart of nats-server and gets no answer after it is none', async () => {
  const first = write('$KV.LEASES.one')
  await vi.advanceTimersByTimeAsync(4_000)
  health.reset()
  await vi.advanceTimersByTimeAsync(1_000)
  await unanswered(first)
  expect(health.fault()).toBeUndefined()
  const second = write('$KV.LEASES.one')
  await vi.advanceTimersByTimeAsync(5_000)
  await unanswered(second)
  expect(health.fault()).toContain('does not confirm')
})
