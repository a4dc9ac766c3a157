import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { eventually } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { ReadBudget } from './read-budget.ts'

const MIB = 1024 * 1024

test('connections wait for their turn when the budget is used up, and are read again', async () => {
  using budget = new ReadBudget()
  const [first, second] = [new IncomingMessage(new Socket()), new IncomingMessage(new Socket())]
  budget.spend(first, 1)
  expect(budget.waiting).toBe(0)
  budget.spend(first, 10 * MIB)
  budget.spend(second, 1)
  expect([budget.waiting, first.socket.isPaused(), second.socket.isPaused()]).toEqual([
    2,
    true,
    true,
  ])
  await eventually(() => budget.waiting === 0)
  expect([first.socket.isPaused(), second.socket.isPaused()]).toEqual([false, false])
})
