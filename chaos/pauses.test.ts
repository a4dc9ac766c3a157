import { expect, test } from 'vitest'
import type { Received } from './client.ts'
import type { Fault } from './faults.ts'
import { longestPause, summarizePauses } from './pauses.ts'

/** A stream with text at these times, except the end of the turn at the last one. */
function stream(...times: number[]): Received[] {
  return times.map((at, index) => ({
    at,
    event:
      index === times.length - 1
        ? { type: 'turn', id: '', payload: { state: 'done', outcome: 'completed' } }
        : { type: 'text', id: '', payload: { content: '' } },
  }))
}

test('a pause is the longest silence from the fault to the end of the turn', () => {
  expect(longestPause(stream(900, 1_300, 2_000, 2_100), 1_000)).toBe(700)
  expect(longestPause(stream(900, 1_800, 2_000), 1_000)).toBe(800)
  expect(longestPause([...stream(900, 1_100), ...stream(9_000)], 1_000)).toBe(100)
})

test('a silence without end counts as 15 s', () => {
  expect(longestPause(stream(900, 60_000), 1_000)).toBe(15_000)
  expect(longestPause(stream(900, 1_500, 1_600).slice(0, 2), 1_000)).toBe(14_500)
})

test('a silence after the next fault is not counted', () => {
  const received = stream(900, 1_100, 2_500, 8_000)
  expect(longestPause(received, 1_000)).toBe(5_500)
  expect(longestPause(received, 1_000, 2_400)).toBe(1_400)
})

test('a session that was silent before the fault has no pause', () => {
  expect(longestPause(stream(900, 9_000), 5_000)).toBeUndefined()
})

test('pauses are summarized by kind and target, with their goals', () => {
  const fault: Fault = {
    kind: 'kill',
    target: 'gateway',
    replica: 0,
    pauseBeforeMs: 0,
    downMs: 500,
  }
  const sessions = [stream(900, 1_200, 5_000), stream(900, 1_400, 1_500, 5_000)]
  const injected = [
    { fault, at: 1_000, sessions: [0, 1] },
    { fault: { ...fault, kind: 'term', target: 'nats' } as const, at: 1_450, sessions: [1] },
  ]
  expect(summarizePauses(injected, sessions, 1)).toEqual({
    'kill gateway': { faults: 1, samples: 2, p50: 3_800, p95: 3_800, max: 3_800, goal: 1_200 },
    'term nats': { faults: 1, samples: 1, p50: 3_500, p95: 3_500, max: 3_500, goal: 6_500 },
  })
})
