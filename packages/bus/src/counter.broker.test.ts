import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Counter } from './bus.ts'
import { NatsCounter } from './nats-counter.ts'
import { parseNatsUrl } from './connect.ts'

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

test('processes that start at once replace streams of an earlier version together', async () => {
  await using own = await startBroker()
  const connection = await connect(parseNatsUrl(own.url))
  try {
    const manager = await jetstreamManager(connection)
    for (const [name, subject] of Object.entries({ RATES: 'rate.>', QUOTAS: 'quota.>' })) {
      await manager.streams.add({ name, subjects: [subject], storage: StorageType.Memory })
    }
    // All have seen a stream before one of them deletes it.
    let seen = 0
    const info = manager.streams.info.bind(manager.streams)
    manager.streams.info = async (name) => {
      const found = await info(name)
      seen += 1
      await eventually(() => seen === 4)
      return found
    }
    const opened = { connection, jetstream: jetstream(connection), manager, warn: () => undefined }
    const open = () => NatsCounter.open(opened, { replicas: 1, isOwner: true })
    const [one, two] = await Promise.all([open(), open()])
    const about = { window: 1, windowMs: 1_000 }
    expect([await one.add('a', 1, about), await two.add('a', 1, about)]).toEqual([1, 2])
  } finally {
    await connection.close()
  }
})
