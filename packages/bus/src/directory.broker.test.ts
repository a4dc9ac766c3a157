import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BrokerProxy } from '../test/broker-proxy.ts'
import { silentLogger } from '../test/silent-logger.ts'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'

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

const record = (id: SessionId, title = 'a talk'): SessionRecord => ({
  id,
  owner: 'local',
  title,
  isTitled: false,
  createdAt: 1,
  updatedAt: 2,
  messages: 1,
  usage: [],
  state: 'active',
})

describe('a session record', () => {
  test('a session record is found as it was last written', async () => {
    const id = newSessionId()
    expect(await bus.directory.get(id)).toBeUndefined()
    await bus.directory.put(record(id))
    const revision = await bus.directory.put(record(id, 'renamed'))
    expect(await bus.directory.get(id)).toEqual({ record: record(id, 'renamed'), revision })
  })

  test('a session record is written by one of two writers that read the same revision', async () => {
    const id = newSessionId()
    const revision = await bus.directory.put(record(id), { revision: 0 })
    await expect(bus.directory.put(record(id), { revision: 0 })).rejects.toMatchObject({
      code: 'conflict',
    })
    const outcomes = await Promise.allSettled(
      ['a', 'b'].map((title) => bus.directory.put(record(id, title), { revision })),
    )
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test('a session record can be created after it was removed', async () => {
    const id = newSessionId()
    const old = await bus.directory.put(record(id))
    await bus.directory.remove(id)
    expect(await bus.directory.get(id)).toBeUndefined()
    await expect(bus.directory.put(record(id), { revision: old })).rejects.toMatchObject({
      code: 'conflict',
    })
    await bus.directory.put(record(id, 'anew'), { revision: 0 })
    expect((await bus.directory.get(id))?.record.title).toBe('anew')
  })

  test('a write of a session record whose answer was lost is no conflict', async () => {
    const id = newSessionId()
    const revision = await bus.directory.put(record(id))
    await using proxy = await BrokerProxy.open(broker.url)
    await using far = await connectBus({ url: proxy.url, name: 'far', logger: silentLogger })
    proxy.hold()
    const pending = far.directory.put(record(id, 'later'), { revision })
    const written = await eventually(async () => {
      const found = await bus.directory.get(id)
      return found !== undefined && found.revision > revision && found
    })
    proxy.cut()
    proxy.release()
    proxy.mend()
    expect(await pending).toBe(written.revision)
  })

  test('a write of a session record survives a restart of the broker', async () => {
    const id = newSessionId()
    await broker.kill()
    const pending = bus.directory.put(record(id))
    await broker.start()
    const revision = await pending
    expect(await bus.directory.get(id)).toEqual({ record: record(id), revision })
  })

  test('a session record with a time to live expires', async () => {
    const id = newSessionId()
    await bus.directory.put({ ...record(id), state: 'deleted' }, { ttlMs: 1_000 })
    expect((await bus.directory.get(id))?.record.state).toBe('deleted')
    await eventually(async () => (await bus.directory.get(id)) === undefined)
  })

  test('an invalid session record is refused with its field', async () => {
    const invalid = { ...record(newSessionId()), messages: -1 }
    await expect(bus.directory.put(invalid)).rejects.toMatchObject({
      code: 'invalid',
      field: 'messages',
    })
  })
})

test('a view of records follows all changes, and skips unreadable records', async () => {
  const [first, second, third] = [newSessionId(), newSessionId(), newSessionId()]
  await bus.directory.put(record(first))
  await outside.request(`$KV.SESSIONS.${newSessionId()}`, 'rubbish')
  await bus.directory.put(record(second))
  const { records } = await (await broker.connect()).directory.watch()
  expect(records.get(first)).toEqual(record(first))
  const before = records.size
  await bus.directory.remove(first)
  await bus.directory.put(record(second, 'renamed'))
  await bus.directory.put(record(third), { ttlMs: 1_000 })
  await eventually(() => records.has(third))
  expect(records.get(second)?.title).toBe('renamed')
  expect(records.has(first)).toBe(false)
  await eventually(() => !records.has(third), { what: 'the expiry of the record' })
  expect(records.size).toBe(before - 1)
})
