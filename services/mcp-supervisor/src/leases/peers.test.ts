import type { Bus } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Peers } from './peers.ts'

type Answer = 'yes' | 'nobody' | 'late'

/** Outcomes of the next pings; the last one repeats. */
let answers: Answer[]
let pings: number
let sinceOutageMs: number
let deaths: number
let peers: Peers

beforeEach(() => {
  vi.useFakeTimers()
  answers = ['yes']
  pings = 0
  sinceOutageMs = Infinity
  deaths = 0
  const bus = {
    sinceOutageMs: () => sinceOutageMs,
    async call() {
      pings++
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer === 'yes') return {}
      throw new BusError(answer === 'nobody' ? 'unavailable' : 'deadline', 'no')
    },
    // Peers uses only these members.
  } as unknown as Bus
  peers = new Peers(bus)
})
afterEach(() => void vi.useRealTimers())

test('a peer without two answers in a row is dead within half a second', async () => {
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBe(0)
  answers = ['nobody']
  await vi.advanceTimersByTimeAsync(500)
  expect(deaths).toBeGreaterThan(0)
})

test('a peer that misses a single answer is not dead', async () => {
  answers = ['yes', 'nobody', 'yes', 'nobody', 'yes']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(deaths).toBe(0)
})

test('a slow or frozen peer is not dead', async () => {
  answers = ['late']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(deaths).toBe(0)
})

test('a silent peer is not dead just after an outage of the broker', async () => {
  answers = ['nobody']
  sinceOutageMs = 1_000
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBe(0)
  sinceOutageMs = 3_000
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBeGreaterThan(0)
})

test('watches of one peer share its pings, which end with the last watch', async () => {
  const watches = Array.from({ length: 20 }, () => peers.watch('peer', () => void deaths++))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(pings).toBeLessThanOrEqual(12)
  for (const watch of watches) watch[Symbol.dispose]()
  const before = pings
  await vi.advanceTimersByTimeAsync(2_000)
  expect(pings).toBeLessThanOrEqual(before + 1)
})

test('a watch after a disposed one is notified', async () => {
  peers.watch('peer', () => undefined)[Symbol.dispose]()
  answers = ['nobody']
  using _ = peers.watch('peer', () => void deaths++)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(deaths).toBeGreaterThan(0)
})
