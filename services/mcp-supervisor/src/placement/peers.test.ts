import type { Bus } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Peers } from './peers.ts'

type Answer = 'yes' | 'nobody' | 'late'

/** What the next pings meet; the last stays. */
let answers: Answer[]
let asked: number
let sinceOutageMs: number
let deaths: number
let peers: Peers

beforeEach(() => {
  vi.useFakeTimers()
  answers = ['yes']
  asked = 0
  sinceOutageMs = Infinity
  deaths = 0
  const bus = {
    sinceOutageMs: () => sinceOutageMs,
    async call() {
      asked++
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer === 'yes') return {}
      throw new BusError(answer === 'nobody' ? 'unavailable' : 'deadline', 'no')
    },
  } as unknown as Bus
  peers = new Peers(bus)
})
afterEach(() => void vi.useRealTimers())

test('a peer for which nobody answers twice is dead, within half a second', async () => {
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBe(0)
  answers = ['nobody']
  await vi.advanceTimersByTimeAsync(500)
  expect(deaths).toBeGreaterThan(0)
})

test('one missing answer is no death', async () => {
  answers = ['yes', 'nobody', 'yes', 'nobody', 'yes']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(deaths).toBe(0)
})

test('one that is slow or frozen is not dead', async () => {
  answers = ['late']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(deaths).toBe(0)
})

test('after an outage of the broker silence means nothing for a while', async () => {
  answers = ['nobody']
  sinceOutageMs = 1_000
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBe(0)
  sinceOutageMs = 3_000
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBeGreaterThan(0)
})

test('a peer that many watch is asked as often as for one, and not at all for nobody', async () => {
  const watches = Array.from({ length: 20 }, () => peers.watch('peer', () => void deaths++))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(asked).toBeLessThanOrEqual(12)
  for (const watch of watches) watch[Symbol.dispose]()
  const before = asked
  await vi.advanceTimersByTimeAsync(2_000)
  expect(asked).toBeLessThanOrEqual(before + 1)
})

test('who stopped watching and begins again is told again', async () => {
  peers.watch('peer', () => undefined)[Symbol.dispose]()
  answers = ['nobody']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBeGreaterThan(0)
})
