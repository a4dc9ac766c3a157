import type { Bus } from '@mcp-host/bus'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WorkerHeartbeats } from './worker-heartbeats.ts'

let emitHeartbeat: (payload: object) => void
let isListening: boolean
let heartbeats: WorkerHeartbeats
beforeEach(() => {
  vi.useFakeTimers()
  isListening = true
  const listen = (_: unknown, __: unknown, listener: typeof emitHeartbeat): Disposable => {
    emitHeartbeat = listener
    return { [Symbol.dispose]: () => void (isListening = false) }
  }
  // WorkerHeartbeats uses only this method.
  heartbeats = new WorkerHeartbeats({ listen } as unknown as Bus)
})
afterEach(() => void vi.useRealTimers())

const [a, b] = [generationId(newSessionId(), 1), generationId(newSessionId(), 2)]

test('a heartbeat is valid for 750 ms, regardless of other workers', () => {
  expect(heartbeats.freshMs(a)).toBe(0)
  emitHeartbeat({ worker: 'v', generations: [a] })
  expect(heartbeats.freshMs(a)).toBe(750)
  vi.advanceTimersByTime(500)
  emitHeartbeat({ worker: 'w', generations: [b] })
  expect([heartbeats.freshMs(a), heartbeats.freshMs(b)]).toEqual([250, 750])
  vi.advanceTimersByTime(500)
  expect([heartbeats.freshMs(a), heartbeats.freshMs(b)]).toEqual([0, 250])
})

test('a generation that the next heartbeat omits is not running', () => {
  emitHeartbeat({ worker: 'v', generations: [a, b] })
  emitHeartbeat({ worker: 'v', generations: [b] })
  expect([heartbeats.freshMs(a), heartbeats.freshMs(b)]).toEqual([0, 750])
})

test('disposed heartbeats stop listening', () => {
  heartbeats[Symbol.dispose]()
  expect(isListening).toBe(false)
})
