import { factSubject, newSessionId, sessionLogSubjects } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimed, envelope, said } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import type { Bus } from './bus.ts'
import { envelopeHeaders } from './codec.ts'
import { connectNats } from './connect.ts'
import { connectBus } from './nats-bus.ts'

let broker: Broker
let bus: Bus
let outside: NatsConnection
const warnings: object[] = []

beforeAll(async () => {
  broker = await startBroker()
  const logger = {
    info: () => {},
    warn: (fields: object) => warnings.push(fields),
    error: () => {},
  }
  bus = await connectBus({ url: broker.url, name: 'test', logger })
  outside = await connectNats(broker.url, 'outside')
})
afterAll(async () => {
  await outside.close()
  await bus[Symbol.asyncDispose]()
  await broker[Symbol.asyncDispose]()
})

test('facts of a newer version and damaged ones show as such, and the rest of the log as it is', async () => {
  const session = newSessionId()
  const follower = new Follower(bus, session)
  await eventually(() => follower.caughtUp > 0)
  const put = (subject: string, data: string, headers = envelopeHeaders(envelope)) =>
    outside.request(subject, data, { headers, timeout: 2_000 })
  const { seq } = await bus.sessions.append(session, said('a'), { envelope, messageId: 'a' })
  await put(factSubject(session, 'turn'), '{"type":"of-a-newer-version","turn":1,"seen":1}')
  await put(factSubject(session, 'generation'), '\u0000 rubbish')
  // Without an envelope.
  await outside.request(factSubject(session, 'input'), '{"id":"b","text":"b"}')
  // No kind of fact that we know: nothing to show.
  await put(sessionLogSubjects(session).replace('>', 'new-kind'), '{}')
  await bus.sessions.append(session, claimed('o', seq), { envelope, messageId: 'o' })
  const expected = [
    { ...said('a'), seq, envelope },
    { kind: 'unreadable', of: 'turn', fact: undefined, seq: seq + 1, session },
    { kind: 'unreadable', of: 'generation', fact: undefined, seq: seq + 2, session },
    { kind: 'unreadable', of: 'input', fact: undefined, seq: seq + 3, session },
    { ...claimed('o', seq), seq: seq + 5 },
  ]
  expect(await bus.sessions.read(session, 0, { through: seq + 5 })).toMatchObject(expected)
  await eventually(() => follower.entries.length === expected.length)
  expect(follower.entries).toMatchObject(expected)
  await follower.stop()
})

test('a log that ends with an unreadable turn event has it as its last', async () => {
  const session = newSessionId()
  await outside.request(factSubject(session, 'turn'), 'rubbish')
  const { turnEvent } = await bus.sessions.end(session)
  expect(turnEvent).toMatchObject({ kind: 'unreadable' })
})

test('the process log is told once per session', async () => {
  warnings.length = 0
  const [first, second] = [newSessionId(), newSessionId()]
  for (const session of [first, first, second]) {
    await outside.request(factSubject(session, 'turn'), 'rubbish')
  }
  for (let round = 0; round < 3; round++) {
    await bus.sessions.read(first, 0)
    await bus.sessions.read(second, 0)
  }
  expect(warnings).toMatchObject([
    { action: `read session ${first}`, err: { code: 'invalid' } },
    { action: `read session ${second}`, err: { code: 'invalid' } },
  ])
})
