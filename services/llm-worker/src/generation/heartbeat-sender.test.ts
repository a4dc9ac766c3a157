import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HeartbeatSender } from './heartbeat-sender.ts'

let heartbeats: unknown[]
let sender: HeartbeatSender
beforeEach(() => {
  vi.useFakeTimers()
  heartbeats = []
  sender = new HeartbeatSender({ id: 'w', emit: (_, __, payload) => void heartbeats.push(payload) })
})
afterEach(() => void vi.useRealTimers())

const generation = (fence: number) => generationId(newSessionId(), fence)

test('heartbeats name all running generations and stop when none runs', () => {
  const [a, b] = [generation(1), generation(2)]
  const first = sender.add(a)
  const second = sender.add(b)
  vi.advanceTimersByTime(500)
  const both = { worker: 'w', generations: [a, b] }
  expect(heartbeats).toEqual([both, both])
  first[Symbol.dispose]()
  vi.advanceTimersByTime(250)
  expect(heartbeats.slice(2)).toEqual([{ worker: 'w', generations: [b] }])
  second[Symbol.dispose]()
  vi.advanceTimersByTime(5_000)
  expect(heartbeats).toHaveLength(3)
  sender.add(a)
  vi.advanceTimersByTime(250)
  expect(heartbeats).toHaveLength(4)
})
