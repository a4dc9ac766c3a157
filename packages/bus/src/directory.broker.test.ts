import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Line } from '../test/line.ts'
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
  test('is found as it was last written, and not where there is none', async () => {
    const id = newSessionId()
    expect(await bus.directory.get(id)).toBeUndefined()
    await bus.directory.put(record(id))
    const revision = await bus.directory.put(record(id, 'renamed'))
    expect(await bus.directory.get(id)).toEqual({ record: record(id, 'renamed'), revision })
  })

  test('is written by one of two that read the same', async () => {
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

  test('can be begun anew where one was removed', async () => {
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

  test('that was written, but of which the answer was lost, is no conflict', async () => {
    const id = newSessionId()
    const revision = await bus.directory.put(record(id))
    await using line = await Line.open(broker.url)
    const logger = { info: () => {}, warn: () => {}, error: () => {} }
    await using far = await connectBus({ url: line.url, name: 'far', logger })
    line.hold()
    const pending = far.directory.put(record(id, 'later'), { revision })
    const written = await eventually(async () => {
      const found = await bus.directory.get(id)
      return found !== undefined && found.revision > revision && found
    })
    line.cut()
    line.release()
    line.mend()
    expect(await pending).toBe(written.revision)
  })

  test('is written and read also when the broker was away meanwhile', async () => {
    const id = newSessionId()
    await broker.kill()
    const pending = bus.directory.put(record(id))
    await broker.start()
    const revision = await pending
    expect(await bus.directory.get(id)).toEqual({ record: record(id), revision })
  })

  test('with a time to live is gone after it', async () => {
    const id = newSessionId()
    await bus.directory.put({ ...record(id), state: 'deleted' }, { ttlMs: 1_000 })
    expect((await bus.directory.get(id))?.record.state).toBe('deleted')
    await eventually(async () => (await bus.directory.get(id)) === undefined)
  })

  test('that is not valid is refused by its field', async () => {
    const wrong = { ...record(newSessionId()), messages: -1 }
    await expect(bus.directory.put(wrong)).rejects.toMatchObject({
      code: 'invalid',
      field: 'messages',
    })
  })
})

test('a view has all records, follows them, and leaves out what it cannot read', async () => {
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
  await eventually(() => !records.has(third), { what: 'the end of its time' })
  expect(records.size).toBe(before - 1)
})
