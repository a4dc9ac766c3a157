import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { ReadBudget } from './read-budget.ts'

const MIB = 1024 * 1024

test('reads of one owner come in order, one per turn of the event loop', async () => {
  const budget = new ReadBudget()
  let turn = 0
  const turns: number[] = []
  for (let reads = 0; reads < 3; reads++) void budget.turn(1, 'ann').then(() => turns.push(turn))
  for (turn = 0; turns.length < 3; turn++) await nextTurn()
  expect(turns).toEqual([1, 2, 3])
})

test('one that has used up what was saved waits until the rate allows, and so do those after it', async () => {
  const budget = new ReadBudget()
  const log: string[] = []
  void budget.turn(25 * MIB, 'ann').then(() => log.push('large'))
  void budget.turn(1, 'ann').then(() => log.push('next'))
  await nextTurn()
  await nextTurn()
  expect(log).toEqual([])
  await eventually(() => log.length === 2)
  expect(log).toEqual(['large', 'next'])
})

test('what was saved is for one that reads alone', async () => {
  const budget = new ReadBudget()
  const log: string[] = []
  for (const name of ['first', 'second']) void budget.turn(1, 'ann').then(() => log.push(name))
  await eventually(() => log.length === 2)
  void budget.turn(MIB, 'ann').then(() => log.push('first again'))
  for (let turns = 0; turns < 4; turns++) await nextTurn()
  expect(log).toEqual(['first', 'second'])
  await eventually(() => log.length === 3)
})

test('owners take turns, and none waits for all that another has read', async () => {
  const budget = new ReadBudget()
  const log: string[] = []
  const read = (owner: string): void => {
    void budget.turn(64 * 1024, owner).then(() => log.push(owner))
  }
  for (let reads = 0; reads < 20; reads++) read('mal')
  for (let reads = 0; reads < 3; reads++) read('ann')
  await eventually(() => log.length === 23)
  expect(log.slice(0, 7)).toEqual(['mal', 'ann', 'mal', 'ann', 'mal', 'ann', 'mal'])
})
