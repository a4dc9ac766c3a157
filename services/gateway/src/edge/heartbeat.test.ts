import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { startHeartbeat } from './heartbeat.ts'

const PERIOD_MS = 1_000
const [OPEN, CLOSING] = [1, 2]

class FakeSocket extends EventEmitter {
  readonly OPEN = OPEN
  readyState = OPEN
  pings = 0
  isTerminated = false

  ping(): void {
    this.pings += 1
  }

  terminate(): void {
    this.isTerminated = true
  }
}

let socket: FakeSocket
let stop: () => void
beforeEach(() => {
  vi.useFakeTimers()
  socket = new FakeSocket()
  // The heartbeat uses these members alone.
  stop = startHeartbeat(socket as unknown as WebSocket, PERIOD_MS)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

test.each(['pong', 'message'])('a socket with a %s in each period stays', async (life) => {
  for (let period = 0; period < 10; period += 1) {
    await vi.advanceTimersByTimeAsync(PERIOD_MS)
    socket.emit(life)
  }
  expect([socket.pings, socket.isTerminated]).toEqual([10, false])
})

test('a silent socket is dropped', async () => {
  await vi.advanceTimersByTimeAsync(2 * PERIOD_MS)
  expect([socket.pings, socket.isTerminated]).toEqual([2, false])
  await vi.advanceTimersByTimeAsync(PERIOD_MS)
  expect(socket.isTerminated).toBe(true)
})

test('a socket that is closing is left to its own time limit', async () => {
  await vi.advanceTimersByTimeAsync(2 * PERIOD_MS)
  socket.readyState = CLOSING
  await vi.advanceTimersByTimeAsync(10 * PERIOD_MS)
  expect([socket.pings, socket.isTerminated]).toEqual([2, false])
})
