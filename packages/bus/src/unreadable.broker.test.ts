import { factSubject, newSessionId, sessionLogSubjects } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import { silentLogger } from '../test/silent-logger.ts'
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
  const logger = { ...silentLogger, warn: (fields: object) => warnings.push(fields) }
  bus = await connectBus({ url: broker.url, name: 'test', logger })
  outside = await connectNats(broker.url, 'outside')
})
afterAll(async () => {
  await outside.close()
  await bus[Symbol.asyncDispose]()
  await broker[Symbol.asyncDispose]()
})

test('facts of unknown versions and damaged facts are unreadable entries, and other entries are unaffected', async () => {
  const session = newSessionId()
  const follower = new Follower(bus, session)
  await eventually(() => follower.caughtUp > 0)
  const put = (subject: string, data: string, headers = envelopeHeaders(envelope)) =>
    outside.request(subject, data, { headers, timeout: 2_000 })
  const { seq } = await bus.sessions.append(session, userMessage('a'), { envelope, messageId: 'a' })
  await put(factSubject(session, 'turn'), '{"type":"of-a-newer-version","turn":1,"seen":1}')
  await put(factSubject(session, 'generation'), '\u0000 rubbish')
  // A fact without an envelope.
  await outside.request(factSubject(session, 'input'), '{"id":"b","text":"b"}')
  // A fact on an unknown subject is skipped.
  await put(sessionLogSubjects(session).replace('>', 'new-kind'), '{}')
  await bus.sessions.append(session, turnClaimed('o', seq), { envelope, messageId: 'o' })
  const expected = [
    { ...userMessage('a'), seq, envelope },
    { kind: 'unreadable', of: 'turn', fact: undefined, seq: seq + 1, session },
    { kind: 'unreadable', of: 'generation', fact: undefined, seq: seq + 2, session },
    { kind: 'unreadable', of: 'input', fact: undefined, seq: seq + 3, session },
    { ...turnClaimed('o', seq), seq: seq + 5 },
  ]
  expect(await bus.sessions.read(session, 0, { through: seq + 5 })).toMatchObject(expected)
  await eventually(() => follower.entries.length === expected.length)
  expect(follower.entries).toMatchObject(expected)
  await follower.stop()
})

test('an unreadable turn event at the end of a log is its last turn event', async () => {
  const session = newSessionId()
  await outside.request(factSubject(session, 'turn'), 'rubbish')
  const { turnEvent } = await bus.sessions.end(session)
  expect(turnEvent).toMatchObject({ kind: 'unreadable' })
})

test('unreadable entries are logged once per session', async () => {
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
