import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HeartbeatSender } from './heartbeat-sender.ts'

let told: unknown[]
let roster: HeartbeatSender
beforeEach(() => {
  vi.useFakeTimers()
  told = []
  roster = new HeartbeatSender({ id: 'w', emit: (_, __, payload) => void told.push(payload) })
})
afterEach(() => void vi.useRealTimers())

const generation = (fence: number) => generationId(newSessionId(), fence)

test('what runs is told again and again, and nothing when nothing runs', () => {
  const [a, b] = [generation(1), generation(2)]
  const first = roster.add(a)
  const second = roster.add(b)
  vi.advanceTimersByTime(500)
  const both = { worker: 'w', generations: [a, b] }
  expect(told).toEqual([both, both])
  first[Symbol.dispose]()
  vi.advanceTimersByTime(250)
  expect(told.slice(2)).toEqual([{ worker: 'w', generations: [b] }])
  second[Symbol.dispose]()
  vi.advanceTimersByTime(5_000)
  expect(told).toHaveLength(3)
  roster.add(a)
  vi.advanceTimersByTime(250)
  expect(told).toHaveLength(4)
})
