import { setImmediate as turn } from 'node:timers/promises'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Objm } from '@nats-io/obj'
import { millis } from '@nats-io/transport-node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import { connectNats, inboxPrefix } from './connect.ts'
import { NatsBlobs } from './nats-blobs.ts'
import { ReplyInbox } from './reply-inbox.ts'

let broker: Broker
let bus: Bus

beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

test('what is stored comes back as it was, at another process, whatever its size', async () => {
  const session = newSessionId()
  const reader = await broker.connect()
  for (const size of [0, 1, 131_072, 5_000_000, 64_000_000]) {
    const bytes = new Uint8Array(size).map((_, index) => index % 251)
    const stored = await bus.blobs.put(bytes, { session })
    expect(stored).toMatchObject({ bytes: size, digest: expect.stringMatching(/^SHA-256=/) })
    expect(Buffer.compare(await reader.blobs.get(stored.key), bytes)).toBe(0)
  }
})

test('the same bytes stored twice are two, so that one can be removed', async () => {
  const bytes = new Uint8Array(3)
  const keys = [await bus.blobs.put(bytes), await bus.blobs.put(bytes)].map(({ key }) => key)
  expect(keys[0]).not.toBe(keys[1])
})

test('a key that nothing is stored under is not found', async () => {
  await expect(bus.blobs.get('shared.nothing')).rejects.toMatchObject({ code: 'not-found' })
})

test('what is removed is gone, also when it was never there', async () => {
  const [gone, kept] = [
    await bus.blobs.put(new Uint8Array(9)),
    await bus.blobs.put(new Uint8Array(9)),
  ]
  await bus.blobs.remove(gone.key)
  await bus.blobs.remove(gone.key)
  await bus.blobs.remove('shared.nothing')
  await expect(bus.blobs.get(gone.key)).rejects.toMatchObject({ code: 'not-found' })
  expect(await bus.blobs.get(kept.key)).toHaveLength(9)
})

test('all that is stored for a session is removed, and nothing else', async () => {
  const [session, other] = [newSessionId(), newSessionId()]
  const bytes = new Uint8Array(9)
  const put = async (of = session): Promise<string> =>
    (await bus.blobs.put(bytes, { session: of })).key
  const gone = [await put(), await put()]
  const kept = [await put(other), (await bus.blobs.put(bytes)).key]
  await bus.blobs.removeAll(session)
  for (const key of gone) expect(await bus.blobs.find(key)).toBeUndefined()
  for (const key of kept) expect(await bus.blobs.get(key)).toHaveLength(9)
  // Also when nothing is left.
  await bus.blobs.removeAll(session)
})

test('storing outlasts a broker that is killed and started again', async () => {
  const bytes = new Uint8Array(300_000).fill(1)
  await broker.kill()
  const storing = bus.blobs.put(bytes)
  await turn()
  await broker.start()
  const { key } = await storing
  expect(Buffer.compare(await bus.blobs.get(key), bytes)).toBe(0)
})

test('storing does not go on trying once the bus is closed', async () => {
  await broker.kill()
  const storing = bus.blobs.put(new Uint8Array(1))
  await bus[Symbol.asyncDispose]()
  await expect(storing).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('storing where there is no room says so at once', async () => {
  await using connection = await connectNats(broker.url, 'full')
  const manager = await jetstreamManager(connection)
  const { config } = await manager.streams.info('OBJ_BLOB')
  await manager.streams.update('OBJ_BLOB', { ...config, max_bytes: 1_000 })
  await expect(bus.blobs.put(new Uint8Array(100_000))).rejects.toMatchObject({
    code: 'exhausted',
    message: expect.stringContaining('no room for results: maximum bytes exceeded'),
  })
}, 10_000)

test('a store that is gone is named rather than said to be out of reach', async () => {
  await using connection = await connectNats(broker.url, 'gone')
  await (await jetstreamManager(connection)).streams.delete('OBJ_BLOB')
  await expect(bus.blobs.get('shared.a')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('stream not found'),
  })
})

test('a blob of which a part is lost is waited for only so long', async () => {
  await using connection = await connectNats(broker.url, 'lost')
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  const manager = await jetstreamManager(connection)
  await manager.streams.purge('OBJ_BLOB', { filter: '$O.BLOB.C.>' })
  const store = await new Objm(connection).open('BLOB')
  const inbox = new ReplyInbox(connection, inboxPrefix('lost'))
  const blobs = new NatsBlobs({ store, connection, manager, inbox }, { patienceMs: 300 })
  await expect(blobs.get(key)).rejects.toMatchObject({ code: 'unavailable' })
}, 10_000)

test('what is stored is kept for 30 days', async () => {
  await using connection = await connectNats(broker.url, 'age')
  const { config } = await (await jetstreamManager(connection)).streams.info('OBJ_BLOB')
  expect(millis(config.max_age)).toBe(30 * 86_400_000)
})

test('what is known of one is found without reading it, until it is removed', async () => {
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

test('reading leaves nothing behind at the broker, which takes only so much', async () => {
  await using connection = await connectNats(broker.url, 'count')
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  await Promise.all(Array.from({ length: 10 }, () => bus.blobs.get(key)))
  const { state } = await (await jetstreamManager(connection)).streams.info('OBJ_BLOB')
  expect(state.consumer_count).toBe(0)
})

test('a blob of which a part was changed is not taken for it', async () => {
  await using connection = await connectNats(broker.url, 'other')
  const { key } = await bus.blobs.put(new Uint8Array(300_000))
  const store = await new Objm(connection).open('BLOB')
  const subject = `$O.BLOB.C.${(await store.info(key))?.nuid}`
  const manager = await jetstreamManager(connection)
  await manager.streams.purge('OBJ_BLOB', { filter: subject, keep: 2 })
  await jetstream(connection).publish(subject, new Uint8Array(131_072).fill(1))
  const inbox = new ReplyInbox(connection, inboxPrefix('other'))
  const blobs = new NatsBlobs({ store, connection, manager, inbox }, { patienceMs: 300 })
  await expect(blobs.get(key)).rejects.toMatchObject({ code: 'unavailable' })
})
