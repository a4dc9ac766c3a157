import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { headers } from '@nats-io/transport-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import { connectNats } from './connect.ts'
import { NatsLogHead } from './nats-log-head.ts'
import { NatsSessionLog } from './nats-session-log.ts'
import { ReplyInbox } from './reply-inbox.ts'

let broker: Broker
let connection: NatsConnection
let log: NatsSessionLog
/** The last sequence of the replica that answers reads. */
let replicaSeq = Infinity
let isReconnecting = false

beforeAll(async () => {
  broker = await startBroker()
  await broker.connect()
  connection = inCluster(await connectNats(broker.url, 'lag'))
  const manager = await jetstreamManager(connection)
  const warn = (): void => {}
  log = new NatsSessionLog({
    connection,
    jetstream: jetstream(connection),
    manager,
    inbox: lagging(new ReplyInbox(connection, 'lag')),
    head: new NatsLogHead({
      connection,
      jetstream: jetstream(connection),
      manager,
      warn,
      onLoss: warn,
      canRepair: true,
    }),
    storage: { fault: () => undefined, checkRoom: async () => {} },
    warn,
  })
})
afterAll(async () => {
  await connection.close()
  await broker[Symbol.asyncDispose]()
})

/** A connection to a cluster, in which the leader answers requests for the last message. */
function inCluster(real: NatsConnection): NatsConnection {
  const info = { ...real.info, cluster: 'c' }
  return Object.create(real, { info: { get: () => (isReconnecting ? undefined : info) } })
}

/** An inbox whose reads are answered by a replica that lags. */
function lagging(inbox: ReplyInbox): ReplyInbox {
  const ask: ReplyInbox['ask'] = (subject, query, { quietMs, onAnswer }) =>
    inbox.ask(subject, query, {
      quietMs,
      onAnswer: (answer) => {
        const seq = Number(answer.headers?.get('Nats-Sequence') || 0)
        if (seq <= replicaSeq) return onAnswer(answer)
        // The end of a batch follows the batch.
        if ('batch' in JSON.parse(String(query))) return false
        return onAnswer(
          Object.create(answer, { headers: { value: headers(404, 'Message Not Found') } }),
        )
      },
    })
  return Object.create(inbox, { ask: { value: ask } })
}

/** A log of four entries, of which the replica has two. */
async function halfReplicated() {
  const session = newSessionId()
  const seqs: number[] = []
  for (const fact of [userMessage('a'), turnClaimed('o'), userMessage('b'), userMessage('c')]) {
    seqs.push((await log.append(session, fact, { envelope, messageId: `${seqs.length}` })).seq)
  }
  replicaSeq = seqs[1] ?? 0
  return { session, seqs, last: seqs[3] ?? 0 }
}

test('a read returns all entries that are known to be stored, even if the replica lags', async () => {
  const { session, seqs, last } = await halfReplicated()
  const read = async (options: Parameters<typeof log.read>[2]) =>
    (await log.read(session, 0, options)).map(({ seq }) => seq)
  expect(await read({})).toEqual(seqs.slice(0, 2))
  expect(await read({ through: last })).toEqual(seqs)
  expect(await read({ through: last, limit: 3 })).toEqual(seqs.slice(0, 3))
  expect(await read({ through: last, until: last - 1 })).toEqual(seqs.slice(0, 3))
  expect(await read({ through: last - 1 })).toEqual(seqs.slice(0, 3))
})

test('a read does not wait for entries that were purged', async () => {
  const { session, last } = await halfReplicated()
  await log.purge(session)
  expect(await log.read(session, 0, { through: last })).toEqual([])
})

test('the end of a log is that of the leader', async () => {
  const { session, seqs, last } = await halfReplicated()
  replicaSeq = 0
  expect(await log.lastSequence(session)).toBe(last)
  expect(await log.end(session)).toMatchObject({ seq: last, turnEvent: { seq: seqs[1] } })
  using listening = await log.listen(session)
  expect(listening).toMatchObject({ seq: last, turnEvent: { seq: seqs[1] } })
})

test('the end of a log is that of the leader even while the bus reconnects', async () => {
  const { session, last } = await halfReplicated()
  isReconnecting = true
  expect(await log.lastSequence(session)).toBe(last)
  expect(await log.read(session, last - 1, { through: last })).toHaveLength(1)
  isReconnecting = false
})

test('a follower gets all entries that were stored before it came', async () => {
  const { session, seqs } = await halfReplicated()
  const follower = new Follower({ sessions: log }, session)
  await eventually(() => follower.caughtUp > 0)
  expect(follower.seqs).toEqual(seqs)
  await follower.stop()
})
