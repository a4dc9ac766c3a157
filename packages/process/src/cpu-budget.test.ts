import { expect, test } from 'vitest'

import { CpuBudget } from './cpu-budget.ts'

/** The share that a program with constant demand for `cores` uses, in percent of one core. */
function shareOf({
  limit,
  cores,
  steps = 10_000,
}: {
  limit: number
  cores: number
  steps?: number
}) {
  const budget = new CpuBudget(limit)
  let [usedMs, isRunning] = [0, true]
  for (let step = 0; step < steps; step += 1) {
    const justUsedMs = isRunning ? cores * 100 : 0
    usedMs += justUsedMs
    isRunning = budget.spend(justUsedMs, 100)
  }
  return usedMs / steps
}

test.each([
  { limit: 10, cores: 1 },
  { limit: 50, cores: 1 },
  { limit: 10, cores: 4 },
  { limit: 150, cores: 2 },
])('$cores busy cores are held at $limit percent on average', ({ limit, cores }) => {
  expect(Math.abs(shareOf({ limit, cores }) - limit)).toBeLessThan(limit * 0.02)
})

test('a program below its share is never paused', () => {
  expect(shareOf({ limit: 50, cores: 0.4 })).toBeCloseTo(40)
})

test('idle time saves at most one second of the share', () => {
  const budget = new CpuBudget(20)
  budget.spend(0, 1e9)
  expect(budget.spend(200, 0)).toBe(true)
  expect(budget.spend(1, 0)).toBe(false)
})

test('a debt pauses a program for at most ten seconds', () => {
  const budget = new CpuBudget(20)
  expect(budget.spend(1e9, 100)).toBe(false)
  expect(budget.spend(0, 9_999)).toBe(false)
  expect(budget.spend(0, 1)).toBe(true)
})
