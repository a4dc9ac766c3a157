import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Counter } from './bus.ts'

let broker: Broker
let counters: readonly [Counter, Counter]

beforeAll(async () => {
  broker = await startBroker()
  const [one, two] = [await broker.connect(), await broker.connect()]
  counters = [await one.counter(), await two.counter()]
})
afterAll(() => broker[Symbol.asyncDispose]())

test.each([1_000, 86_400_000])('two processes add up in a window of %d ms', async (windowMs) => {
  const about = { window: 7, windowMs }
  const sums = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      counters[index % 2 === 0 ? 0 : 1].add('user:ann', 5, about),
    ),
  )
  expect(Math.max(...sums)).toBe(500)
  expect(new Set(sums).size).toBe(100)
})

test('keys and windows are counted by themselves', async () => {
  const [counter] = counters
  expect(await counter.add('a', 3, { window: 1, windowMs: 1_000 })).toBe(3)
  expect(await counter.add('b.>', 4, { window: 1, windowMs: 1_000 })).toBe(4)
  expect(await counter.add('a', 5, { window: 2, windowMs: 1_000 })).toBe(5)
  expect(await counter.add('a', 1, { window: 1, windowMs: 1_000 })).toBe(4)
})

test('an amount can be taken back', async () => {
  const about = { window: 3, windowMs: 86_400_000 }
  expect(await counters[0].add('back', 2, about)).toBe(2)
  expect(await counters[1].add('back', -1, about)).toBe(1)
})

test('counters go on after a restart of the broker, where services may create none', async () => {
  await using own = await startBroker({ hasAccounts: true })
  const counter = await (await own.connect('gateway')).counter()
  const about = { window: 1, windowMs: 60_000 }
  expect(await counter.add('user:ann', 2, about)).toBe(2)
  await own.kill()
  await own.start()
  await eventually(async () => (await counter.add('user:ann', 1, about).catch(() => 0)) > 2)
})
