import { setImmediate as immediate } from 'node:timers/promises'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Objm } from '@nats-io/obj'
import { millis } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'
import { NatsBlobs } from './nats-blobs.ts'
import { ReplyInbox } from './reply-inbox.ts'

let broker: Broker
let bus: Bus

beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

test('a blob of any size is read by another process as it was stored', async () => {
  const session = newSessionId()
  const reader = await broker.connect()
  for (const size of [0, 1, 131_072, 5_000_000, 64_000_000]) {
    const bytes = new Uint8Array(size).map((_, index) => index % 251)
    const stored = await bus.blobs.put(bytes, { session })
    expect(stored).toMatchObject({ bytes: size, digest: expect.stringMatching(/^SHA-256=/) })
    expect(Buffer.compare(await reader.blobs.get(stored.key), bytes)).toBe(0)
    const pieces = await Array.fromAsync(reader.blobs.read(stored.key))
    expect(Buffer.compare(Buffer.concat(pieces), bytes)).toBe(0)
    expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024)
  }
})

test('equal bytes that are stored twice have two keys', async () => {
  const bytes = new Uint8Array(3)
  const keys = [await bus.blobs.put(bytes), await bus.blobs.put(bytes)].map(({ key }) => key)
  expect(keys[0]).not.toBe(keys[1])
})

test('a key of no blob is not found', async () => {
  await expect(bus.blobs.get('shared.nothing')).rejects.toMatchObject({ code: 'not-found' })
  const reading = Array.fromAsync(bus.blobs.read('shared.nothing'))
  await expect(reading).rejects.toMatchObject({ code: 'not-found' })
})

test('a removed blob is gone, and a blob may be removed twice', async () => {
  const [removed, other] = [
    await bus.blobs.put(new Uint8Array(9)),
    await bus.blobs.put(new Uint8Array(9)),
  ]
  await bus.blobs.remove(removed.key)
  await bus.blobs.remove(removed.key)
  await bus.blobs.remove('shared.nothing')
  await expect(bus.blobs.get(removed.key)).rejects.toMatchObject({ code: 'not-found' })
  expect(await bus.blobs.get(other.key)).toHaveLength(9)
})

test('all blobs of a session are removed, and no others', async () => {
  const [session, other] = [newSessionId(), newSessionId()]
  const bytes = new Uint8Array(9)
  const put = async (owner = session): Promise<string> =>
    (await bus.blobs.put(bytes, { session: owner })).key
  const removed = [await put(), await put()]
  const others = [await put(other), (await bus.blobs.put(bytes)).key]
  await bus.blobs.removeAll(session)
  for (const key of removed) expect(await bus.blobs.find(key)).toBeUndefined()
  for (const key of others) expect(await bus.blobs.get(key)).toHaveLength(9)
  // A session without blobs is no error.
  await bus.blobs.removeAll(session)
})

test('a put survives a kill and restart of the broker', async () => {
  const bytes = new Uint8Array(300_000).fill(1)
  await broker.kill()
  const storing = bus.blobs.put(bytes)
  await immediate()
  await broker.start()
  const { key } = await storing
  expect(Buffer.compare(await bus.blobs.get(key), bytes)).toBe(0)
})

test('a put is not retried once the bus is closed', async () => {
  await broker.kill()
  const storing = bus.blobs.put(new Uint8Array(1))
  await bus[Symbol.asyncDispose]()
  await expect(storing).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('a put without room in the store fails at once with the reason', async () => {
  await using connection = await connectNats(broker.url, 'full')
  const manager = await jetstreamManager(connection)
  const { config } = await manager.streams.info('OBJ_BLOB')
  await manager.streams.update('OBJ_BLOB', { ...config, max_bytes: 1_000 })
  await expect(bus.blobs.put(new Uint8Array(100_000))).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('no room for results: maximum bytes exceeded'),
  })
}, 10_000)

test('a missing store is reported as such', async () => {
  await using connection = await connectNats(broker.url, 'gone')
  await (await jetstreamManager(connection)).streams.delete('OBJ_BLOB')
  await expect(bus.blobs.get('shared.a')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('stream not found'),
  })
})

test('a read of a blob with a missing chunk times out', async () => {
  const { connection, manager, blobs } = await impatient()
  await using _closed = connection
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  await manager.streams.purge('OBJ_BLOB', { filter: '$O.BLOB.C.>' })
  await expect(blobs.get(key)).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('blobs expire after 30 days', async () => {
  await using connection = await connectNats(broker.url, 'age')
  const { config } = await (await jetstreamManager(connection)).streams.info('OBJ_BLOB')
  expect(millis(config.max_age)).toBe(30 * 86_400_000)
})

test('the metadata of a blob is found without reading it, until it is removed', async () => {
  const session = newSessionId()
  const about = { mimeType: 'image/png', name: 'größe.png' }
  const stored = await bus.blobs.put(new Uint8Array(3), { session, ...about })
  expect(stored.key.startsWith(`${session}.`)).toBe(true)
  expect(await bus.blobs.find(stored.key)).toEqual({ ...stored, ...about })
  const bare = await bus.blobs.put(new Uint8Array(1))
  expect(await bus.blobs.find(bare.key)).toEqual(bare)
  await bus.blobs.remove(bare.key)
  expect(await bus.blobs.find(bare.key)).toBeUndefined()
  expect(await bus.blobs.find('shared.nothing')).toBeUndefined()
})

test('reads leave no consumers at the broker', async () => {
  await using connection = await connectNats(broker.url, 'count')
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  await Promise.all(Array.from({ length: 10 }, () => bus.blobs.get(key)))
  const { state } = await (await jetstreamManager(connection)).streams.info('OBJ_BLOB')
  expect(state.consumer_count).toBe(0)
})

test('a blob with a changed chunk fails its digest', async () => {
  const { connection, manager, blobs } = await impatient()
  await using _closed = connection
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  const store = await new Objm(connection).open('BLOB')
  const subject = `$O.BLOB.C.${(await store.info(key))?.nuid}`
  await manager.streams.purge('OBJ_BLOB', { filter: subject, keep: 2 })
  await jetstream(connection).publish(subject, new Uint8Array(131_072).fill(1))
  await expect(blobs.get(key)).rejects.toMatchObject({ code: 'unavailable' })
  // A reader of pieces must not take it for whole.
  let bytes = 0
  const reading = async (): Promise<void> => {
    for await (const { length } of blobs.read(key)) bytes += length
  }
  await expect(reading()).rejects.toMatchObject({ code: 'unavailable' })
  expect(bytes).toBeLessThan(300_000)
})

test('a blob that another process has replaced is not read by its digest', async () => {
  await using connection = await connectNats(broker.url, 'other')
  const { key, digest } = await bus.blobs.put(Buffer.from('first'))
  expect(await bus.blobs.get(key, { digest })).toHaveLength(5)
  const store = await new Objm(connection).open('BLOB')
  await store.putBlob({ name: key }, Buffer.from('second'))
  await expect(bus.blobs.get(key, { digest })).rejects.toMatchObject({
    code: 'not-found',
    message: `there is no stored result "${key}" with the digest ${digest}: it was removed or replaced`,
  })
  // This client pads digests.
  const replaced = (await store.info(key))?.digest
  for (const same of [replaced, replaced?.replace(/=+$/, '')]) {
    expect(await bus.blobs.get(key, { digest: same })).toHaveLength(6)
  }
})

test('an empty blob with the digest of another one is damaged', async () => {
  const { connection, blobs } = await impatient()
  await using _closed = connection
  const { key, digest } = await bus.blobs.put(Buffer.from('first'))
  const subject = `$O.BLOB.M.${Buffer.from(key).toString('base64')}`
  const forged = JSON.stringify({ name: key, nuid: 'n', size: 0, chunks: 0, digest })
  await jetstream(connection).publish(subject, forged)
  await expect(blobs.get(key, { digest })).rejects.toMatchObject({ code: 'unavailable' })
})

/** Blobs that are retried for a short time. */
async function impatient() {
  const connection = await connectNats(broker.url, 'other')
  const manager = await jetstreamManager(connection)
  const inbox = new ReplyInbox(connection, 'other')
  const deps = { connection, jetstream: jetstream(connection), manager, inbox }
  return { connection, manager, blobs: new NatsBlobs(deps, { patienceMs: 300 }) }
}
