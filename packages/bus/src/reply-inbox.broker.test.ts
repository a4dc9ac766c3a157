import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { errors } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectNats, inboxPrefix } from './connect.ts'
import { ReplyInbox } from './reply-inbox.ts'

let broker: Broker
let connection: NatsConnection
let inbox: ReplyInbox
const question = Buffer.from('?')

beforeAll(async () => {
  broker = await startBroker()
  connection = await connectNats(broker.url, 'asks')
  inbox = new ReplyInbox(connection, inboxPrefix('asks'))
  connection.subscribe('count', {
    callback: (_, message) => {
      for (const answer of ['1', '2', '3']) message.respond(answer)
    },
  })
  connection.subscribe('silent', { callback: () => {} })
})
afterAll(async () => {
  await connection.close()
  await broker[Symbol.asyncDispose]()
})

/** Asks until the given answer. */
async function ask(subject: string, last: string, quietMs = 500): Promise<string[]> {
  const answers: string[] = []
  const onAnswer = (message: { string(): string }): boolean =>
    answers.push(message.string()) > 0 && answers.at(-1) === last
  await inbox.ask(subject, question, { quietMs, onAnswer })
  return answers
}

describe('a question', () => {
  test('gets its own answers in order, however many are asked at once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('count', '3')))
    expect(new Set(all.map(String))).toEqual(new Set(['1,2,3']))
  })

  test('is over with the answer that is said to be the last', async () => {
    expect(await ask('count', '2')).toEqual(['1', '2'])
  })

  test('that nobody hears fails at once', async () => {
    await expect(ask('nobody', '', 60_000)).rejects.toThrow(errors.NoRespondersError)
  })

  test('fails when no answer comes, and when no more come before the last', async () => {
    await expect(ask('silent', '', 50)).rejects.toThrow(errors.TimeoutError)
    await expect(ask('count', '4', 50)).rejects.toThrow(errors.TimeoutError)
  })

  test('fails with what is thrown over its answer', async () => {
    const onAnswer = (): boolean => {
      throw new Error('not like this')
    }
    const asking = inbox.ask('count', question, { quietMs: 500, onAnswer })
    await expect(asking).rejects.toThrow('not like this')
  })

  test('fails when the connection is closed', async () => {
    const other = await connectNats(broker.url, 'closes')
    const asking = new ReplyInbox(other, inboxPrefix('closes')).ask('silent', question, {
      quietMs: 60_000,
      onAnswer: () => true,
    })
    await other.flush()
    await Promise.all([expect(asking).rejects.toThrow(errors.ClosedConnectionError), other.close()])
  })
})
