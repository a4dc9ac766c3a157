import type { LogFact, SessionId } from '@mcp-host/contracts'
import {
  fillSubject,
  generationId,
  liveLogSubjects,
  newSessionId,
  shardOf,
  textDelta,
} from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { NatsConnection } from '@nats-io/transport-node'
import { errors } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage, toolStarted } from '../test/facts.ts'
import { Follower } from '../test/follower.ts'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'

let broker: Broker
let bus: Bus
let writer: Bus
let outside: NatsConnection

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  writer = await broker.connect()
  outside = await connectNats(broker.url, 'outside')
})
afterAll(async () => {
  await outside.close()
  await broker[Symbol.asyncDispose]()
})

async function append(session: SessionId, fact: LogFact, by = writer): Promise<number> {
  const messageId = crypto.randomUUID()
  return (await by.sessions.append(session, fact, { envelope, messageId })).seq
}

const appendMany = (session: SessionId, count: number, by = writer): Promise<number[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) => append(session, userMessage(`${index}`), by)),
  )

const delta = (session: SessionId, offset: number) => ({
  generation: generationId(session, 0),
  offset,
  kind: 'text' as const,
  text: 'x',
})

/** Whether the subject has a subscriber. */
async function hasSubscriber(subject: string): Promise<boolean> {
  try {
    await outside.request(subject, '', { timeout: 300 })
    return true
  } catch (error) {
    return !(error instanceof errors.RequestError && error.isNoResponders())
  }
}

const liveSubject = (session: SessionId) => liveLogSubjects(session).replace('>', 'in.msg')
const deltaSubject = (session: SessionId) =>
  fillSubject(textDelta.subject, { session, shard: shardOf(session) })

describe('following a session', () => {
  test('a follower gets all entries after its cursor, a marker, and then live entries', async () => {
    const session = newSessionId()
    const [before, stored] = [
      await append(session, userMessage('before')),
      await append(session, userMessage('stored')),
    ]
    const follower = new Follower(bus, session, { after: before })
    await eventually(() => follower.caughtUp > 0)
    expect(follower.seqs).toEqual([stored])
    const live = await append(session, userMessage('live'))
    await eventually(() => follower.entries.length === 2)
    await follower.stop()
    expect(follower.entries[1]).toMatchObject({
      ...userMessage('live'),
      seq: live,
      session,
      envelope,
    })
  })

  test('a follower gets every entry once and in order while several writers append', async () => {
    const session = newSessionId()
    await appendMany(session, 20)
    const writers = [bus, writer, await broker.connect()]
    const appending = Promise.all(writers.map((by) => appendMany(session, 200, by)))
    const early = new Follower(bus, session)
    const late = await eventually(() => early.entries.length > 100 && new Follower(bus, session))
    await appending
    const all = (await bus.sessions.read(session, 0)).map(({ seq }) => seq)
    expect(all).toHaveLength(620)
    await eventually(() => early.entries.length >= 620 && late.entries.length >= 620)
    await Promise.all([early.stop(), late.stop()])
    expect(early.seqs).toEqual(all)
    expect(late.seqs).toEqual(all)
  })

  test('a follower gets no entries of other sessions', async () => {
    const [mine, another] = [newSessionId(), newSessionId()]
    const follower = new Follower(bus, mine)
    await eventually(() => follower.caughtUp > 0)
    await append(another, userMessage('not mine'))
    const seq = await append(mine, userMessage('mine'))
    await eventually(() => follower.entries.length > 0)
    await follower.stop()
    expect(follower.seqs).toEqual([seq])
  })

  test('a follower that paused for thousands of entries gets all of them in order', async () => {
    const session = newSessionId()
    await append(session, userMessage('first'))
    const stop = new AbortController()
    const options = { after: 0, deltas: false, signal: stop.signal }
    const items = bus.sessions.follow(session, options)[Symbol.asyncIterator]()
    const seqs: number[] = []
    const takeOne = async (): Promise<void> => {
      const { value: item } = await items.next()
      if (item?.type === 'entry') seqs.push(item.entry.seq)
    }
    await takeOne()
    const beside = new Follower(bus, session)
    await eventually(() => beside.caughtUp > 0)
    await appendMany(session, 2_500)
    // The queue of the paused reader received the same entries as this follower.
    await eventually(() => beside.entries.length === 2_501)
    while (seqs.length < 2_501) await takeOne()
    stop.abort()
    await items.return?.()
    await beside.stop()
    expect(seqs).toEqual((await bus.sessions.read(session, 0)).map(({ seq }) => seq))
  })

  test('a follower ends with its signal, and the last one removes the subscriptions', async () => {
    const session = newSessionId()
    const [one, two] = [
      new Follower(bus, session, { deltas: true }),
      new Follower(bus, session, { deltas: true }),
    ]
    await eventually(() => one.caughtUp > 0 && two.caughtUp > 0)
    await one.stop()
    expect(await hasSubscriber(liveSubject(session))).toBe(true)
    expect(await hasSubscriber(deltaSubject(session))).toBe(true)
    await two.stop()
    await eventually(async () => !(await hasSubscriber(liveSubject(session))))
    await eventually(async () => !(await hasSubscriber(deltaSubject(session))))
    // The session can be followed again.
    const seq = await append(session, userMessage('a'))
    const again = new Follower(bus, session)
    await eventually(() => again.entries.length > 0)
    await again.stop()
    expect(again.seqs).toEqual([seq])
  })

  test('a follower ends when its reader leaves the loop', async () => {
    const session = newSessionId()
    await append(session, userMessage('a'))
    const { signal } = new AbortController()
    for await (const item of bus.sessions.follow(session, { after: 0, deltas: true, signal })) {
      if (item.type === 'caught-up') break
    }
    await eventually(async () => !(await hasSubscriber(liveSubject(session))))
  })
})

describe('listening to a session', () => {
  test('the subscription of a session lasts as long as its listeners and followers', async () => {
    const session = newSessionId()
    const listening = await bus.sessions.listen(session)
    const follower = new Follower(bus, session)
    await eventually(() => follower.caughtUp > 0)
    listening[Symbol.dispose]()
    expect(await hasSubscriber(liveSubject(session))).toBe(true)
    const again = await bus.sessions.listen(session)
    await follower.stop()
    expect(await hasSubscriber(liveSubject(session))).toBe(true)
    again[Symbol.dispose]()
    await eventually(async () => !(await hasSubscriber(liveSubject(session))))
  })

  test('a listener gets the current end of the log, even if the session is followed already', async () => {
    const session = newSessionId()
    using before = await bus.sessions.listen(session)
    const seq = await append(session, turnClaimed('one'))
    using after = await bus.sessions.listen(session)
    expect([before.seq, after.seq, after.turnEvent?.seq]).toEqual([0, seq, seq])
  })

  test('a follower beside a listener gets the entries that were stored before', async () => {
    const session = newSessionId()
    const seqs = await appendMany(session, 3)
    using _listening = await bus.sessions.listen(session)
    seqs.push(await append(session, userMessage('later')))
    const follower = new Follower(bus, session)
    await eventually(() => follower.entries.length === seqs.length)
    await follower.stop()
    expect(follower.seqs).toEqual(seqs)
  })
})

describe('text deltas', () => {
  test('text deltas reach all followers that request them, and no others', async () => {
    const session = newSessionId()
    const [plain, one, two] = [
      new Follower(bus, session),
      new Follower(bus, session, { deltas: true }),
      new Follower(bus, session, { deltas: true }),
    ]
    await eventually(() => [plain, one, two].every(({ caughtUp }) => caughtUp > 0))
    for (let offset = 0; offset < 50; offset++) {
      writer.emit(textDelta, { session, shard: shardOf(session) }, delta(session, offset))
    }
    const seq = await append(session, userMessage('end'))
    await eventually(() => [plain, one, two].every(({ entries }) => entries.length === 1))
    await eventually(() => one.deltas.length === 50 && two.deltas.length === 50)
    expect(one.deltas.map(({ offset }) => offset)).toEqual(Array.from({ length: 50 }, (_, i) => i))
    expect(two.deltas).toEqual(one.deltas)
    expect(plain.deltas).toEqual([])
    expect(plain.seqs).toEqual([seq])
    await Promise.all([plain, one, two].map((follower) => follower.stop()))
  })

  test('an invalid text delta is dropped without affecting the next', async () => {
    const session = newSessionId()
    const follower = new Follower(bus, session, { deltas: true })
    await eventually(() => follower.caughtUp > 0)
    outside.publish(deltaSubject(session), 'rubbish')
    outside.publish(deltaSubject(session), JSON.stringify(delta(session, 7)))
    await eventually(() => follower.deltas.length > 0)
    await follower.stop()
    expect(follower.deltas).toEqual([delta(session, 7)])
  })
})

test('a follower survives repeated kills and restarts of the broker', async () => {
  await using own = await startBroker()
  const [reader, author] = [await own.connect(), await own.connect()]
  const session = newSessionId()
  const follower = new Follower(reader, session, { deltas: true })
  await append(session, userMessage('before'), author)
  await eventually(() => follower.entries.length === 1)
  for (let round = 1; round <= 3; round++) {
    await own.kill()
    const appending = [
      append(session, userMessage(`during ${round}`), author),
      append(session, turnClaimed(`during ${round}`), author),
      append(session, toolStarted(session, round), author),
    ]
    await own.start()
    await Promise.all(appending)
    await append(session, userMessage(`after ${round}`), author)
    await eventually(() => follower.entries.length === 1 + 4 * round, { limitMs: 8_000 })
  }
  author.emit(textDelta, { session, shard: shardOf(session) }, delta(session, 0))
  await eventually(() => follower.deltas.length === 1)
  await follower.stop()
  expect(follower.seqs).toEqual((await author.sessions.read(session, 0)).map(({ seq }) => seq))
})
