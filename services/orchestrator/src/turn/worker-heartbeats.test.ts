import type { Bus } from '@mcp-host/bus'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WorkerHeartbeats } from './worker-heartbeats.ts'

let tell: (payload: object) => void
let isListening: boolean
let heard: WorkerHeartbeats
beforeEach(() => {
  vi.useFakeTimers()
  isListening = true
  const listen = (_: unknown, __: unknown, listener: typeof tell): Disposable => {
    tell = listener
    return { [Symbol.dispose]: () => void (isListening = false) }
  }
  heard = new WorkerHeartbeats({ listen } as unknown as Bus)
})
afterEach(() => void vi.useRealTimers())

const [a, b] = [generationId(newSessionId(), 1), generationId(newSessionId(), 2)]

test('a generation runs for a while after its worker said so, whatever others say', () => {
  expect(heard.freshMs(a)).toBe(0)
  tell({ worker: 'v', generations: [a] })
  expect(heard.freshMs(a)).toBe(750)
  vi.advanceTimersByTime(500)
  tell({ worker: 'w', generations: [b] })
  expect([heard.freshMs(a), heard.freshMs(b)]).toEqual([250, 750])
  vi.advanceTimersByTime(500)
  expect([heard.freshMs(a), heard.freshMs(b)]).toEqual([0, 250])
})

test('what a worker does not name any more is not taken to run', () => {
  tell({ worker: 'v', generations: [a, b] })
  tell({ worker: 'v', generations: [b] })
  expect([heard.freshMs(a), heard.freshMs(b)]).toEqual([0, 750])
})

test('it listens until disposed', () => {
  heard[Symbol.dispose]()
  expect(isListening).toBe(false)
})
