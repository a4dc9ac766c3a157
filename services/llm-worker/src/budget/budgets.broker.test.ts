import type { Bus } from '@mcp-host/bus'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Budgets } from './budgets.ts'

const { signal } = new AbortController()

let broker: Broker
let buses: Bus[]
beforeEach(async () => {
  broker = await startBroker()
  buses = await Promise.all([broker.connect('one'), broker.connect('other')])
})
afterEach(() => broker[Symbol.asyncDispose]())

const budgets = (options?: { minuteMs: number }): Budgets[] =>
  buses.map((bus) => new Budgets(bus, options))

test('workers together have at most the configured number of requests in flight', async () => {
  let running = 0
  let most = 0
  const workers = budgets()
  const requests = Array.from({ length: 60 }, async (_, index) => {
    using _room = await workers[index % 2]!.enter('a', { concurrent: 3 }, signal)
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running--
  })
  await Promise.all(requests)
  expect([most, running]).toEqual([3, 0])
})

test('each provider has its own limit', async () => {
  const [worker] = budgets()
  using _a = await worker!.enter('a', { concurrent: 1 }, signal)
  using _b = await worker!.enter('b', { concurrent: 1 }, signal)
  await expect(
    worker!.enter('a', { concurrent: 1 }, AbortSignal.timeout(200)),
  ).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('a request that stops waiting takes no slot from the ones behind it', async () => {
  const [one, other] = budgets()
  const first = await one!.enter('a', { concurrent: 1 }, signal)
  const gone = AbortSignal.timeout(100)
  const waiting = [one!, other!].map((worker) => worker.enter('a', { concurrent: 1 }, gone))
  const behind = [one!, other!].map((worker) => worker.enter('a', { concurrent: 1 }, signal))
  const outcomes = await Promise.allSettled(waiting)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  first[Symbol.dispose]()
  const next = await Promise.race(behind)
  next[Symbol.dispose]()
  const both = await Promise.all(behind)
  for (const each of both) each[Symbol.dispose]()
})

test('the slot of a dead worker expires', async () => {
  const [one, other] = budgets()
  await one!.enter('a', { concurrent: 1 }, signal)
  await buses[0]![Symbol.asyncDispose]()
  using _room = await other!.enter('a', { concurrent: 1 }, AbortSignal.timeout(30_000))
})

test('a raised limit applies to later requests', async () => {
  const [worker] = budgets()
  using _first = await worker!.enter('a', { concurrent: 1 }, signal)
  using _second = await worker!.enter('a', { concurrent: 2 }, signal)
})

test('a busy worker does not starve the others', async () => {
  const [busy, other] = budgets()
  const stop = new AbortController()
  const loops = Array.from({ length: 3 }, async () => {
    while (!stop.signal.aborted) {
      using _room = await busy!.enter('a', { concurrent: 1 }, signal)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  await eventually(() => busy!.enter('b', { concurrent: 1 }, signal).then(() => true))
  using _room = await other!.enter('a', { concurrent: 1 }, AbortSignal.timeout(9_000))
  stop.abort()
  _room[Symbol.dispose]()
  await Promise.all(loops)
})

test('a lowered limit applies once the requests above it have ended', async () => {
  const [worker] = budgets()
  const both = await Promise.all([1, 2].map(() => worker!.enter('a', { concurrent: 2 }, signal)))
  const third = worker!.enter('a', { concurrent: 1 }, signal)
  for (const each of both) each[Symbol.dispose]()
  using _third = await third
  const fourth = worker!.enter('a', { concurrent: 1 }, AbortSignal.timeout(500))
  await expect(fourth).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('workers together send at most the configured number of requests per minute', async () => {
  const minuteMs = 2_000
  const workers = budgets({ minuteMs })
  const times: number[] = []
  const requests = Array.from({ length: 7 }, async (_, index) => {
    using _room = await workers[index % 2]!.enter('a', { requestsPerMinute: 3 }, signal)
    times.push(performance.now())
  })
  await eventually(() => times.length >= 3, { what: 'the first three' })
  await Promise.all(requests)
  // Each fourth request waited for the end of the minute of the three before it.
  expect(times[3]! - times[0]!).toBeGreaterThan(minuteMs * 0.9)
  expect(times[6]! - times[3]!).toBeGreaterThan(minuteMs * 0.9)
})
