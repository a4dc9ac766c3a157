import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AuditMessage, Bus } from './bus.ts'
import { parseNatsUrl } from './connect.ts'
import { AUDIT_STREAM } from './streams.ts'

const DAY_MS = 86_400_000

let broker: Broker
let bus: Bus
beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

async function entriesOf(writer: string, from: Bus = bus): Promise<readonly string[]> {
  const messages: AuditMessage[] = await Array.fromAsync(from.audit.read())
  return messages.flatMap((message) => (message.writer === writer ? message.entries : []))
}

describe('the audit log', () => {
  test('is not there until a process opens it, and is kept for as long as the last one said', async () => {
    expect(await bus.audit.state()).toBeUndefined()
    await bus.audit.open({ maxAgeMs: 365 * DAY_MS })
    expect(await bus.audit.state()).toMatchObject({ messages: 0, maxAgeMs: 365 * DAY_MS })
    await bus.audit.open({ maxAgeMs: 30 * DAY_MS })
    const { createdAt = 0, ...state } = (await bus.audit.state()) ?? {}
    expect(state).toEqual({ messages: 0, maxAgeMs: 30 * DAY_MS })
    expect(Math.abs(Date.now() - createdAt)).toBeLessThan(60_000)
  })

  test('has the entries of each writer in order', async () => {
    const other = await broker.connect()
    await bus.audit.append('one', ['a', 'b'])
    await other.audit.append('two', ['x'])
    await bus.audit.append('one', ['c ü'])
    expect(await entriesOf('one')).toEqual(['a', 'b', 'c ü'])
    expect(await entriesOf('two')).toEqual(['x'])
  })

  test('is read from a time on', async () => {
    await bus.audit.append('old', ['before'])
    await expect
      .poll(async () => (await Array.fromAsync(bus.audit.read({ since: new Date() }))).length)
      .toBe(0)
    const since = new Date()
    await bus.audit.append('old', ['after'])
    expect(await Array.fromAsync(bus.audit.read({ since }))).toMatchObject([{ entries: ['after'] }])
  })

  test('is read whole when it has more messages than one read of the broker returns', async () => {
    for (let count = 0; count < 1_100; count++) await bus.audit.append('many', [String(count)])
    const expected = Array.from({ length: 1_100 }, (_, count) => String(count))
    expect(await entriesOf('many')).toEqual(expected)
    const back = await Array.fromAsync(bus.audit.readBack())
    const forth = await Array.fromAsync(bus.audit.read())
    expect(back).toEqual(forth.toReversed())
  })

  test('is read back from the newest message, from a sequence, and to a time', async () => {
    await bus.audit.append('older', ['a'])
    const [, before] = await Array.fromAsync(bus.audit.readBack())
    await vi.waitFor(async () => {
      const since = new Date()
      await bus.audit.append('newer', ['b', 'c'])
      const found = await Array.fromAsync(bus.audit.readBack({ since }))
      expect(found).toMatchObject([{ writer: 'newer', entries: ['b', 'c'] }])
    })
    for await (const first of bus.audit.readBack({ from: before?.seq })) {
      expect(first).toEqual(before)
      break
    }
  })

  test('loses no message by deletion or purging', async () => {
    const connection = await connect(parseNatsUrl(broker.url))
    const manager = await jetstreamManager(connection)
    await expect(manager.streams.deleteMessage(AUDIT_STREAM, 1)).rejects.toThrow('not permitted')
    await expect(manager.streams.purge(AUDIT_STREAM)).rejects.toThrow('not permitted')
    await connection.close()
  })
})

test('entries whose acknowledgement was lost are stored once when they are appended again', async () => {
  // What a process that was cut off does: it does not know of its own append.
  const before = await broker.connect()
  await before.audit.append('cut', ['a'])
  const after = await broker.connect()
  await after.audit.append('cut', ['a'])
  await after.audit.append('cut', ['b'])
  expect(await entriesOf('cut')).toEqual(['a', 'b'])
})

test('a writer goes on after a message that another process wrote in its name', async () => {
  await bus.audit.append('mine', ['a'])
  const connection = await connect(parseNatsUrl(broker.url))
  connection.publish('audit.mine', 'forged')
  await connection.flush()
  await connection.close()
  await expect(bus.audit.append('mine', ['b'])).rejects.toMatchObject({ code: 'unavailable' })
  await bus.audit.append('mine', ['b'])
  expect(await entriesOf('mine')).toEqual(['a', 'forged', 'b'])
})

test('an append fails as unavailable while nats-server is away, and can be repeated', async () => {
  await using own = await startBroker()
  const writer = await own.connect()
  await writer.audit.open({ maxAgeMs: DAY_MS })
  await writer.audit.append('it', ['a'])
  await own.kill()
  await expect(writer.audit.append('it', ['b'])).rejects.toMatchObject({ code: 'unavailable' })
  await own.start()
  await expect
    .poll(
      () =>
        writer.audit.append('it', ['b']).then(
          () => 'stored',
          () => 'away',
        ),
      { timeout: 10_000 },
    )
    .toBe('stored')
  expect(await entriesOf('it', writer)).toEqual(['a', 'b'])
})
