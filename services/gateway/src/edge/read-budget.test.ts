import { setImmediate } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import type { PausableReader } from './read-budget.ts'
import { ReadBudget } from './read-budget.ts'

const MIB = 1024 * 1024

function newReader(name: string, log: string[]): PausableReader {
  return { pause: () => log.push(`${name} paused`), resume: () => log.push(`${name} resumed`) }
}

test('large readers are paused and resumed in order, one per turn of the event loop', async () => {
  using budget = new ReadBudget()
  const log: string[] = []
  budget.spend(newReader('first', log), 1)
  budget.spend(newReader('second', log), 1)
  expect(log.splice(0)).toEqual(['first paused', 'second paused'])
  await setImmediate()
  expect(log.splice(0)).toEqual(['first resumed'])
  await setImmediate()
  expect(log).toEqual(['second resumed'])
})

test('a reader that has used up the budget is resumed when the rate allows', async () => {
  using budget = new ReadBudget()
  const log: string[] = []
  budget.spend(newReader('only', log), 25 * MIB)
  await setImmediate()
  await setImmediate()
  expect(log).toEqual(['only paused'])
  await eventually(() => log.at(-1) === 'only resumed')
  expect(budget.waiting).toBe(0)
})

test('paused readers do not share the burst allowance of the budget', async () => {
  using budget = new ReadBudget()
  const log: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map((name) => newReader(name, log))
  for (const reader of [first, second, third]) if (reader) budget.spend(reader, 1)
  await setImmediate()
  if (first) budget.spend(first, MIB)
  log.splice(0)
  for (let round = 0; round < 3; round++) await setImmediate()
  expect(log).toEqual(['second resumed'])
  await eventually(() => log.includes('third resumed'))
})
