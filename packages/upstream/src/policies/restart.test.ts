import { expect, test } from 'vitest'

import type { RestartConfig } from '../server-config.ts'
import { RestartPolicy } from './restart.ts'

const crash = { failed: true }

/** A policy on a clock of its own, without jitter. */
function start(config: RestartConfig): {
  readonly policy: RestartPolicy
  /** Lets the server run for `ms` and crash; returns the delay before the restart, or the reason against one. */
  readonly crashAfter: (ms: number) => number | string
} {
  let now = 0
  const policy = new RestartPolicy(config, { now: () => now, random: () => 1 })
  const crashAfter = (ms: number): number | string => {
    now += ms
    const decision = policy.next(crash)
    if ('giveUp' in decision) return decision.giveUp
    now += decision.delayMs
    return decision.delayMs
  }
  return { policy, crashAfter }
}

test('the policy "no" never restarts a server', () => {
  const policy = new RestartPolicy({ policy: 'no' })
  expect(policy.next(crash)).toEqual({ giveUp: 'its restart policy is "no"' })
  expect(policy.next({ failed: false })).toEqual({ giveUp: 'its restart policy is "no"' })
})

test('the policy "on-failure" restarts a server only after a failure', () => {
  const policy = new RestartPolicy({ policy: 'on-failure' }, { random: () => 1 })
  expect(policy.next({ failed: false })).toEqual({ giveUp: 'it ended without a failure' })
  expect(policy.next(crash)).toEqual({ delayMs: 1_000 })
})

test('the policy "always" restarts a server after any end', () => {
  const policy = new RestartPolicy({ policy: 'always' }, { random: () => 1 })
  expect(policy.next({ failed: false })).toEqual({ delayMs: 1_000 })
})

test('the delay before a restart grows from 1 s to 30 s, without an end by default', () => {
  const { crashAfter } = start({ policy: 'on-failure' })
  const delays = Array.from({ length: 7 }, () => crashAfter(0))
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('the delay before a restart is reset once the server was stable', () => {
  const { policy, crashAfter } = start({ policy: 'on-failure' })
  crashAfter(0)
  crashAfter(0)
  policy.stable()
  expect([crashAfter(0), crashAfter(0)]).toEqual([1_000, 2_000])
})

test('a crash loop is given up with the number of restarts and their time', () => {
  const { crashAfter } = start({ policy: 'on-failure', maxRestarts: 5 })
  const ends = Array.from({ length: 6 }, () => crashAfter(1_000))
  expect(ends.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000])
  expect(ends[5]).toBe('restarted 5 times within 60 s')
})

test('a crash loop is detected even if the server was stable in between', () => {
  const { policy, crashAfter } = start({ policy: 'always', maxRestarts: 2, windowMs: 10_000 })
  crashAfter(0)
  policy.stable()
  crashAfter(0)
  policy.stable()
  expect(crashAfter(0)).toBe('restarted 2 times within 10 s')
})

test('restarts from before the window do not count', () => {
  const { policy, crashAfter } = start({ policy: 'always', maxRestarts: 2, windowMs: 10_000 })
  for (let day = 0; day < 100; day += 1) {
    expect([crashAfter(20_000), crashAfter(0)]).toEqual([1_000, 2_000])
    policy.stable()
  }
})

test('a restart counts from its own time, not from the decision', () => {
  const { crashAfter } = start({ policy: 'always', maxRestarts: 1, windowMs: 10_000 })
  crashAfter(0)
  // 10 s after the decision, 9 s after the restart.
  expect(crashAfter(9_000)).toBe('restarted once within 10 s')
})

test('a limit of 0 allows no restart', () => {
  const { crashAfter } = start({ policy: 'always', maxRestarts: 0 })
  expect(crashAfter(0)).toBe('it may not be restarted ("maxRestarts" is 0)')
})
