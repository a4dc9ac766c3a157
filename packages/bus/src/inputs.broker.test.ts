import type { LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import { factSubject, newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimed, envelope, said } from '../test/facts.ts'
import type { Bus } from './bus.ts'
import { connectNats } from './connect.ts'
import { INPUTS_CONSUMER, SESSIONS_STREAM } from './streams.ts'

let broker: Broker
let bus: Bus

beforeEach(async () => {
  broker = await startBroker()
  bus = await broker.connect()
})
afterEach(() => broker[Symbol.asyncDispose]())

const say = (session: SessionId, id: string) =>
  bus.sessions.append(session, said(id), { envelope, messageId: id })

const never = (): Promise<'done'> => new Promise(() => {})

test('what users say to a running turn is handed out too', async () => {
  const session = newSessionId()
  const entries: LogEntry[] = []
  await bus.sessions.consumeInputs(async (entry) => {
    entries.push(entry)
    return 'done'
  })
  const control: LogFact = { kind: 'control', fact: { type: 'cancel-requested' } }
  await bus.sessions.append(session, control, { envelope, messageId: 'c' })
  await say(session, 'a')
  await eventually(() => entries.length === 2)
  expect(entries).toMatchObject([control, said('a')])
})

test('a consumer of an earlier version, which handed out only messages, is brought up to date', async () => {
  await using outside = await connectNats(broker.url, 'earlier')
  const { consumers } = await jetstreamManager(outside)
  const session = newSessionId()
  await say(session, 'before')
  await consumers.update(SESSIONS_STREAM, INPUTS_CONSUMER, { filter_subject: 's.*.*.in.msg' })
  const kinds: string[] = []
  const next = await broker.connect()
  const { config } = await consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER)
  expect(config.filter_subject).toBe('s.*.*.in.>')
  await next.sessions.consumeInputs(async ({ kind }) => {
    kinds.push(kind)
    return 'done'
  })
  const control: LogFact = { kind: 'control', fact: { type: 'cancel-requested' } }
  await bus.sessions.append(session, control, { envelope, messageId: 'c' })
  await eventually(() => kinds.length === 2)
  expect(kinds).toEqual(['input', 'control'])
})

describe('a job', () => {
  test('is known while it is in hand, and no longer', async () => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<'done'>()
    const jobs = await bus.sessions.consumeInputs(() => finished)
    expect(jobs.held()).toEqual([])
    await say(newSessionId(), 'a')
    await eventually(() => jobs.held().length === 1)
    finish('done')
    await eventually(() => jobs.held().length === 0)
  })

  test('of a process that is gone is handed back by another, and comes at once', async () => {
    const dying = await broker.connect()
    const jobs = await dying.sessions.consumeInputs(never)
    await say(newSessionId(), 'a')
    const [job = ''] = await eventually(() => jobs.held().length > 0 && jobs.held())
    await dying[Symbol.asyncDispose]()
    const seqs: number[] = []
    await bus.sessions.consumeInputs(async ({ seq }) => {
      seqs.push(seq)
      return 'done'
    })
    bus.sessions.handBack(job)
    // Otherwise the broker waits for 5 s.
    await eventually(() => seqs.length === 1, { limitMs: 3_000 })
  })

  test('that is none of ours is not handed back', async () => {
    for (const job of ['s.1.x.ev', '$JS.API.STREAM.PURGE.SESS', '$JS.ACK.OTHER.orch.1.1.1.1.0']) {
      expect(() => bus.sessions.handBack(job)).toThrow('is no job')
    }
  })

  test('of which a process rids itself goes to another at once', async () => {
    const leaving = await broker.connect()
    const { promise: finished, resolve: finish } = Promise.withResolvers<{ retryMs: number }>()
    const jobs = await leaving.sessions.consumeInputs(() => finished)
    await say(newSessionId(), 'a')
    await eventually(() => jobs.held().length === 1)
    await jobs[Symbol.asyncDispose]()
    const seqs: number[] = []
    await bus.sessions.consumeInputs(async ({ seq }) => {
      seqs.push(seq)
      return 'done'
    })
    finish({ retryMs: 0 })
    await eventually(() => seqs.length === 1, { limitMs: 3_000 })
    expect(jobs.held()).toEqual([])
  })
})

describe('a user message', () => {
  test('is handed out, with all that is known of it, and not again once it is done', async () => {
    const session = newSessionId()
    const entries: LogEntry[] = []
    await bus.sessions.consumeInputs(async (entry) => {
      entries.push(entry)
      return 'done'
    })
    const { seq } = await say(session, 'a')
    // Not a user message.
    await bus.sessions.append(session, claimed('o'), { envelope, messageId: 'turn' })
    await say(session, 'b')
    await eventually(() => entries.length === 2)
    expect(entries[0]).toMatchObject({ ...said('a'), session, seq, envelope })
    expect(Math.abs((entries[0]?.time ?? 0) - Date.now())).toBeLessThan(60_000)
    const later: string[] = []
    await (
      await broker.connect()
    ).sessions.consumeInputs(async ({ fact = {} }) => {
      later.push('id' in fact ? fact.id : '')
      return 'done'
    })
    await say(session, 'c')
    await eventually(() => entries.length + later.length === 3)
    expect(later.concat(entries.map(({ seq: each }) => `${each}`))).not.toContain('a')
  })

  test('that was stored before anybody was there is handed out too', async () => {
    const { seq } = await say(newSessionId(), 'a')
    const seqs: number[] = []
    await bus.sessions.consumeInputs(async (entry) => {
      seqs.push(entry.seq)
      return 'done'
    })
    await eventually(() => seqs.length > 0)
    expect(seqs).toEqual([seq])
  })

  test('comes back when the handler says so', async () => {
    const times: number[] = []
    await bus.sessions.consumeInputs(async () => {
      times.push(Date.now())
      return times.length < 3 ? { retryMs: 300 } : 'done'
    })
    await say(newSessionId(), 'a')
    await eventually(() => times.length === 3)
    const [first = 0, second = 0, third = 0] = times
    expect(second - first).toBeGreaterThanOrEqual(290)
    expect(third - second).toBeGreaterThanOrEqual(290)
    expect(third - first).toBeLessThan(4_000)
  })

  test('comes back when the handler fails', async () => {
    let calls = 0
    await bus.sessions.consumeInputs(async () => {
      if (++calls === 1) throw new Error('a fault')
      return 'done'
    })
    await say(newSessionId(), 'a')
    await eventually(() => calls === 2, { limitMs: 4_000 })
  })

  test('goes to another process within 8 s when the first dies over it', async () => {
    const dying = await broker.connect()
    let started = 0
    await dying.sessions.consumeInputs(() => {
      started++
      return never()
    })
    const { seq } = await say(newSessionId(), 'a')
    await eventually(() => started === 1)
    await dying[Symbol.asyncDispose]()
    const seqs: number[] = []
    await bus.sessions.consumeInputs(async (entry) => {
      seqs.push(entry.seq)
      return 'done'
    })
    await eventually(() => seqs.length > 0, { limitMs: 8_000 })
    expect(seqs).toEqual([seq])
    expect(started).toBe(1)
  })

  test('stays with a process that works on it for longer than the broker waits (6 s)', async () => {
    const handlers: string[] = []
    const { promise: finished, resolve: finish } = Promise.withResolvers<'done'>()
    const consume = (name: string, by: Bus) =>
      by.sessions.consumeInputs(({ fact = {} }) => {
        handlers.push(`${name} ${'id' in fact ? fact.id : ''}`)
        return finished
      })
    await consume('first', bus)
    await say(newSessionId(), 'a')
    await eventually(() => handlers.length === 1)
    const start = Date.now()
    await consume('second', await broker.connect())
    await eventually(() => Date.now() - start > 6_500)
    finish('done')
    expect(handlers).toEqual(['first a'])
  })

  test('that cannot be read is given up and does not hold up the next', async () => {
    const session = newSessionId()
    const outside = await connectNats(broker.url, 'outside')
    await outside.request(factSubject(session, 'input'), 'rubbish')
    const { seq } = await say(newSessionId(), 'a')
    const seqs: number[] = []
    await bus.sessions.consumeInputs(async (entry) => {
      seqs.push(entry.seq)
      return 'done'
    })
    await eventually(() => seqs.length > 0)
    expect(seqs).toEqual([seq])
    const manager = await jetstreamManager(outside)
    const unsettled = async () =>
      (await manager.consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER)).num_ack_pending
    await eventually(async () => (await unsettled()) === 0, { limitMs: 4_000 })
    await outside.close()
  })
})

test('a process that takes no more inputs leaves them to the others', async () => {
  const mine: string[] = []
  const theirs: string[] = []
  const consume = (by: Bus, into: string[]) =>
    by.sessions.consumeInputs(async ({ session }) => {
      into.push(session)
      return 'done'
    })
  const consuming = await consume(bus, mine)
  await say(newSessionId(), 'a')
  await eventually(() => mine.length === 1)
  await consuming[Symbol.asyncDispose]()
  await consume(await broker.connect(), theirs)
  await Promise.all(Array.from({ length: 20 }, () => say(newSessionId(), 'a')))
  await eventually(() => theirs.length === 20)
  expect(mine).toHaveLength(1)
})

test('inputs go on when the broker was killed and started again', async () => {
  const sessions: SessionId[] = []
  await bus.sessions.consumeInputs(async ({ session }) => {
    sessions.push(session)
    return 'done'
  })
  for (let round = 1; round <= 2; round++) {
    await broker.kill()
    const waiting = newSessionId()
    const append = say(waiting, 'a')
    await broker.start()
    await append
    await eventually(() => sessions.includes(waiting), { limitMs: 8_000 })
  }
})
