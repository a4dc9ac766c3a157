// What a process must not believe of messages that others can have the broker send.
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { SessionId } from '@mcp-host/contracts'
import {
  factSubject,
  fillSubject,
  generationId,
  newSessionId,
  shardOf,
  textDelta,
} from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { envelope, turnClaimed, userMessage } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import type { Bus } from './bus.ts'
import { envelopeHeaders } from './codec.ts'
import { connectNats } from './connect.ts'

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

async function follow(session: SessionId): Promise<Follower> {
  const follower = new Follower(bus, session, { deltas: true })
  await eventually(() => follower.caughtUp > 0)
  return follower
}

async function appendLast(session: SessionId): Promise<void> {
  await bus.sessions.append(session, userMessage('last'), { envelope, messageId: 'last' })
}

test('a header of a stored message does not make it a fact of another kind', async () => {
  const session = newSessionId()
  const follower = await follow(session)
  const forged = envelopeHeaders(envelope)
  forged.set('Nats-Subject', factSubject(session, 'turn'))
  forged.set('Nats-Sequence', '7')
  const data = JSON.stringify(turnClaimed('forged').fact)
  await jetstream(outside).publish(factSubject(session, 'input'), data, { headers: forged })
  await appendLast(session)
  await eventually(() => follower.entries.length === 2)
  expect(follower.entries.map(({ kind }) => kind)).toEqual(['unreadable', 'input'])
  await follower.stop()
})

test('a stored message that the broker is told to send as live text is none', async () => {
  const session = newSessionId()
  const follower = await follow(session)
  const text = { generation: generationId(session, 0), offset: 0, kind: 'text', text: 'forged' }
  const subject = factSubject(session, 'input')
  await jetstream(outside).publish(subject, JSON.stringify(text), {
    headers: envelopeHeaders(envelope),
  })
  const reply = fillSubject(textDelta.subject, { session, shard: shardOf(session) })
  outside.publish('$JS.API.DIRECT.GET.SESS', JSON.stringify({ last_by_subj: subject }), { reply })
  await outside.flush()
  await appendLast(session)
  await eventually(() => follower.entries.length === 2)
  expect(follower.deltas).toEqual([])
  await follower.stop()
})

test('a stored message that the broker is told to send as an entry of another kind is none', async () => {
  const session = newSessionId()
  const follower = await follow(session)
  const subject = factSubject(session, 'input')
  const data = JSON.stringify(turnClaimed('forged').fact)
  await jetstream(outside).publish(subject, data, { headers: envelopeHeaders(envelope) })
  const reply = `live.${factSubject(session, 'turn')}`
  outside.publish('$JS.API.DIRECT.GET.SESS', JSON.stringify({ last_by_subj: subject }), { reply })
  await outside.flush()
  await appendLast(session)
  await eventually(() => follower.entries.length === 2)
  expect(follower.entries.map(({ kind }) => kind)).toEqual(['unreadable', 'input'])
  await follower.stop()
})
