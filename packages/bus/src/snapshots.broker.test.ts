import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { jetstreamManager } from '@nats-io/jetstream'
import { Objm } from '@nats-io/obj'
import { millis } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'

let broker: Broker
let bus: Bus

beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

const SMALL = new Uint8Array(600_000).fill(1)
const LARGE = new Uint8Array(2_500_000).fill(2)

const isSame = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0

test('the latest snapshot of a session is read as it was stored, whatever its size', async () => {
  const [session, another] = [newSessionId(), newSessionId()]
  const reader = await broker.connect()
  expect(await reader.snapshots.get(session)).toBeUndefined()
  await bus.snapshots.put(another, new Uint8Array(1))
  for (const bytes of [SMALL, LARGE, SMALL.subarray(1), LARGE.subarray(1)]) {
    await bus.snapshots.put(session, bytes)
    expect(isSame(await reader.snapshots.get(session), bytes)).toBe(true)
  }
  expect(await reader.snapshots.get(another)).toHaveLength(1)
})

test('a removed snapshot is gone, and a snapshot may be removed twice', async () => {
  for (const bytes of [SMALL, LARGE]) {
    const session = newSessionId()
    await bus.snapshots.put(session, bytes)
    await bus.snapshots.remove(session)
    await bus.snapshots.remove(session)
    expect(await bus.snapshots.get(session)).toBeUndefined()
  }
})

test('a snapshot whose blob another process has replaced is not read', async () => {
  const session = newSessionId()
  await bus.snapshots.put(session, LARGE)
  await using connection = await connectNats(broker.url, 'outside')
  const store = await new Objm(connection).open('BLOB')
  const [{ name } = { name: '' }] = await store.list()
  await store.putBlob(
    { name },
    LARGE.map((byte) => byte + 1),
  )
  expect(await bus.snapshots.get(session)).toBeUndefined()
})

test('replaced and removed snapshots leave no data in the store', async () => {
  await using connection = await connectNats(broker.url, 'outside')
  const { streams } = await jetstreamManager(connection)
  const stored = async () => (await streams.info('OBJ_BLOB')).state.bytes
  const session = newSessionId()
  for (let round = 0; round < 3; round++) await bus.snapshots.put(session, LARGE)
  expect(await stored()).toBeLessThan(1.5 * LARGE.length)
  await bus.snapshots.remove(session)
  expect(await stored()).toBeLessThan(10_000)
})

test('a snapshot survives a kill and restart of the broker, and expires after 30 days', async () => {
  const session = newSessionId()
  await broker.kill()
  const storing = bus.snapshots.put(session, SMALL)
  await broker.start()
  await storing
  expect(isSame(await bus.snapshots.get(session), SMALL)).toBe(true)
  await using connection = await connectNats(broker.url, 'age')
  const { config } = await (await jetstreamManager(connection)).streams.info('KV_SNAPSHOTS')
  expect(millis(config.max_age)).toBe(30 * 86_400_000)
})
