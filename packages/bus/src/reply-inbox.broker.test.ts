import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { errors } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectNats } from './connect.ts'
import { ReplyInbox } from './reply-inbox.ts'

let broker: Broker
let connection: NatsConnection
let inbox: ReplyInbox
const question = Buffer.from('?')

beforeAll(async () => {
  broker = await startBroker()
  connection = await connectNats(broker.url, 'asks')
  inbox = new ReplyInbox(connection, 'asks')
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

/** Collects answers up to the last. */
async function collectAnswers(subject: string, last: string, quietMs = 500): Promise<string[]> {
  const answers: string[] = []
  const onAnswer = (message: { string(): string }): boolean =>
    answers.push(message.string()) > 0 && answers.at(-1) === last
  await inbox.ask(subject, question, { quietMs, onAnswer })
  return answers
}

describe('a request', () => {
  test('a request gets its own answers in order, among concurrent requests', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => collectAnswers('count', '3')))
    expect(new Set(all.map(String))).toEqual(new Set(['1,2,3']))
  })

  test('a request ends with the answer that its callback accepts as the last', async () => {
    expect(await collectAnswers('count', '2')).toEqual(['1', '2'])
  })

  test('a request without subscribers fails at once', async () => {
    await expect(collectAnswers('nobody', '', 60_000)).rejects.toThrow(errors.NoRespondersError)
  })

  test('a request fails when no answer arrives in time, or the last one does not', async () => {
    await expect(collectAnswers('silent', '', 50)).rejects.toThrow(errors.TimeoutError)
    await expect(collectAnswers('count', '4', 50)).rejects.toThrow(errors.TimeoutError)
  })

  test('a request fails with the error of its callback', async () => {
    const onAnswer = (): boolean => {
      throw new Error('not like this')
    }
    const asking = inbox.ask('count', question, { quietMs: 500, onAnswer })
    await expect(asking).rejects.toThrow('not like this')
  })

  test('a request fails when the connection is closed', async () => {
    const other = await connectNats(broker.url, 'closes')
    const asking = new ReplyInbox(other, 'closes').ask('silent', question, {
      quietMs: 60_000,
      onAnswer: () => true,
    })
    await other.flush()
    await Promise.all([expect(asking).rejects.toThrow(errors.ClosedConnectionError), other.close()])
  })
})
