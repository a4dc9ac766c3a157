import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import { defineBucket } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { BucketView, Bus } from './bus.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'

const things = defineBucket('THINGS', {
  record: z.object({ size: z.number() }),
  what: 'things',
})
type Thing = z.infer<typeof things.record>

let broker: Broker
let bus: Bus
let outside: NatsConnection

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  outside = await connectNats(broker.url, 'outside')
})
afterAll(async () => {
  await outside.close()
  await broker[Symbol.asyncDispose]()
})

const sizes = ({ records }: BucketView<Thing>): Record<string, number> =>
  Object.fromEntries(Array.from(records, ([key, { size }]) => [key, size]))

test('a view has more records than one read of the broker returns', async () => {
  const bucket = await bus.bucket(things)
  await Promise.all(
    Array.from({ length: 1_200 }, (_, size) => bucket.put(`many-${size}`, { size })),
  )
  const view = await bucket.watch()
  expect(view.records.size).toBe(1_200)
  expect(view.records.get('many-1199')).toEqual({ size: 1_199 })
})

test('a watch leaves no consumers at the broker', async () => {
  await (await bus.bucket(things)).watch()
  const { state } = await (await jetstreamManager(outside)).streams.info('KV_THINGS')
  expect(state.consumer_count).toBe(0)
})

test('a view has all changes of an outage, also the removal of a record', async () => {
  await using proxy = await BrokerProxy.open(broker.url)
  await using far = await connectBus({ url: proxy.url, name: 'far', logger: silentLogger })
  const bucket = await bus.bucket(things)
  await bucket.put('stays', { size: 1 })
  await bucket.put('changes', { size: 1 })
  await bucket.put('ends', { size: 1 })
  const view = await (await far.bucket(things)).watch()
  expect(sizes(view)).toMatchObject({ stays: 1, changes: 1, ends: 1 })
  proxy.cut()
  await bucket.put('changes', { size: 2 })
  await bucket.put('begins', { size: 2 })
  await bucket.remove('ends')
  // Nothing says that the record was removed, as after the mark of its removal has expired.
  await (await jetstreamManager(outside)).streams.purge('KV_THINGS', { filter: '$KV.THINGS.ends' })
  proxy.mend()
  await eventually(() => !view.records.has('ends') && view.records.has('begins'))
  expect(sizes(view)).toMatchObject({ stays: 1, changes: 2, begins: 2 })
})

test('a view finds a change that the broker has not repeated', async () => {
  const bucket = await bus.bucket(things)
  const view = await bucket.watch()
  const { streams } = await jetstreamManager(outside)
  const { config } = await streams.info('KV_THINGS')
  const elsewhere = { src: '$KV.THINGS.>', dest: 'elsewhere.>' }
  await streams.update('KV_THINGS', { ...config, republish: elsewhere })
  await bucket.put('unheard', { size: 3 })
  await streams.update('KV_THINGS', config)
  expect(view.records.has('unheard')).toBe(false)
  // Later than the sequence after the last one, which shows that one is missing.
  await bucket.put('heard', { size: 4 })
  await eventually(() => view.records.has('unheard'), { limitMs: 800 })
})

test('a view ignores messages that the broker has not repeated from the bucket', async () => {
  const bucket = await bus.bucket(things)
  const view = await bucket.watch()
  // A stored message of another bucket, whose writer has set a header that the broker sets after it.
  const forged = headers()
  forged.append('Nats-Subject', '$KV.THINGS.forged')
  forged.append('Nats-Subject', '$KV.OTHER.forged')
  forged.set('Nats-Sequence', '1000000')
  outside.publish('kv.THINGS.forged', '{"size":9}', { headers: forged })
  outside.publish('kv.THINGS.forged', '{"size":9}')
  await outside.flush()
  await bucket.put('after', { size: 1 })
  await eventually(() => view.records.has('after'))
  expect(view.records.has('forged')).toBe(false)
})
