import type { LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import { factSubject, newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage } from '../test/facts.ts'
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

const sendMessage = (session: SessionId, id: string) =>
  bus.sessions.append(session, userMessage(id), { envelope, messageId: id })

/** Consumes inputs and collects their entries. */
async function collectInputs(): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  await bus.sessions.consumeInputs(async (entry) => {
    entries.push(entry)
    return 'done'
  })
  return entries
}

const never = (): Promise<'done'> => new Promise(() => {})

test('inputs to a running turn are delivered', async () => {
  const session = newSessionId()
  const entries = await collectInputs()
  const control: LogFact = { kind: 'control', fact: { type: 'cancel-requested' } }
  await bus.sessions.append(session, control, { envelope, messageId: 'c' })
  await sendMessage(session, 'a')
  await eventually(() => entries.length === 2)
  expect(entries).toMatchObject([control, userMessage('a')])
})

test('a consumer of messages alone is updated to deliver all inputs', async () => {
  await using outside = await connectNats(broker.url, 'earlier')
  const { consumers } = await jetstreamManager(outside)
  const session = newSessionId()
  await sendMessage(session, 'before')
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

test('inputs are unfinished until their handler is done, whether or not a process has them', async () => {
  expect(await bus.sessions.unfinishedInputs()).toBe(0)
  const session = newSessionId()
  await sendMessage(session, 'a')
  await sendMessage(session, 'b')
  expect(await bus.sessions.unfinishedInputs()).toBe(2)
  const jobs = await bus.sessions.consumeInputs((entry) =>
    entry.kind === 'input' && entry.fact.id === 'a' ? Promise.resolve('done') : never(),
  )
  await eventually(async () => (await bus.sessions.unfinishedInputs()) === 1)
  expect(jobs.held()).toHaveLength(1)
})

describe('a job', () => {
  test('a job is held until its handler is done', async () => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<'done'>()
    const jobs = await bus.sessions.consumeInputs(() => finished)
    expect(jobs.held()).toEqual([])
    await sendMessage(newSessionId(), 'a')
    await eventually(() => jobs.held().length === 1)
    finish('done')
    await eventually(() => jobs.held().length === 0)
  })

  test('a job of a process that died is redelivered at once when another hands it back', async () => {
    const dying = await broker.connect()
    const jobs = await dying.sessions.consumeInputs(never)
    await sendMessage(newSessionId(), 'a')
    const [job = ''] = await eventually(() => jobs.held().length > 0 && jobs.held())
    await dying[Symbol.asyncDispose]()
    const entries = await collectInputs()
    bus.sessions.handBack(job)
    // Without handing back, the broker waits for 5 s.
    await eventually(() => entries.length === 1, { limitMs: 3_000 })
  })

  test('a job of another stream or consumer is not handed back', async () => {
    for (const job of ['s.1.x.ev', '$JS.API.STREAM.PURGE.SESS', '$JS.ACK.OTHER.orch.1.1.1.1.0']) {
      expect(() => bus.sessions.handBack(job)).toThrow('is no job')
    }
  })

  test('a job that its process gives up is delivered to another at once', async () => {
    const leaving = await broker.connect()
    const { promise: finished, resolve: finish } = Promise.withResolvers<{ retryMs: number }>()
    const jobs = await leaving.sessions.consumeInputs(() => finished)
    await sendMessage(newSessionId(), 'a')
    await eventually(() => jobs.held().length === 1)
    await jobs[Symbol.asyncDispose]()
    const entries = await collectInputs()
    finish({ retryMs: 0 })
    await eventually(() => entries.length === 1, { limitMs: 3_000 })
    expect(jobs.held()).toEqual([])
  })
})

describe('a user message', () => {
  test('a user message is delivered with its entry, and not again once it is done', async () => {
    const session = newSessionId()
    const entries = await collectInputs()
    const { seq } = await sendMessage(session, 'a')
    // A turn event is no user message.
    await bus.sessions.append(session, turnClaimed('o'), { envelope, messageId: 'turn' })
    await sendMessage(session, 'b')
    await eventually(() => entries.length === 2)
    expect(entries[0]).toMatchObject({ ...userMessage('a'), session, seq, envelope })
    expect(Math.abs((entries[0]?.time ?? 0) - Date.now())).toBeLessThan(60_000)
    const later: string[] = []
    await (
      await broker.connect()
    ).sessions.consumeInputs(async ({ fact = {} }) => {
      later.push('id' in fact ? fact.id : '')
      return 'done'
    })
    await sendMessage(session, 'c')
    await eventually(() => entries.length + later.length === 3)
    expect(later.concat(entries.map(({ seq: each }) => `${each}`))).not.toContain('a')
  })

  test('a user message that was stored before any consumer is delivered', async () => {
    const { seq } = await sendMessage(newSessionId(), 'a')
    const entries = await collectInputs()
    await eventually(() => entries.length > 0)
    expect(entries.map((entry) => entry.seq)).toEqual([seq])
  })

  test('a user message is redelivered after the delay that its handler requests', async () => {
    const times: number[] = []
    await bus.sessions.consumeInputs(async () => {
      times.push(Date.now())
      return times.length < 3 ? { retryMs: 300 } : 'done'
    })
    await sendMessage(newSessionId(), 'a')
    await eventually(() => times.length === 3)
    const [first = 0, second = 0, third = 0] = times
    expect(second - first).toBeGreaterThanOrEqual(290)
    expect(third - second).toBeGreaterThanOrEqual(290)
  })

  test('a user message is redelivered when its handler fails', async () => {
    let calls = 0
    await bus.sessions.consumeInputs(async () => {
      if (++calls === 1) throw new Error('a fault')
      return 'done'
    })
    await sendMessage(newSessionId(), 'a')
    await eventually(() => calls === 2, { limitMs: 4_000 })
  })

  test('a user message is delivered to another process within 8 s when its process dies', async () => {
    const dying = await broker.connect()
    let started = 0
    await dying.sessions.consumeInputs(() => {
      started++
      return never()
    })
    const { seq } = await sendMessage(newSessionId(), 'a')
    await eventually(() => started === 1)
    await dying[Symbol.asyncDispose]()
    const entries = await collectInputs()
    await eventually(() => entries.length > 0, { limitMs: 8_000 })
    expect(entries.map((entry) => entry.seq)).toEqual([seq])
    expect(started).toBe(1)
  })

  test('a user message stays with a process that works longer than the broker waits (6 s)', async () => {
    const handlers: string[] = []
    const { promise: finished, resolve: finish } = Promise.withResolvers<'done'>()
    const consume = (name: string, by: Bus) =>
      by.sessions.consumeInputs(({ fact = {} }) => {
        handlers.push(`${name} ${'id' in fact ? fact.id : ''}`)
        return finished
      })
    await consume('first', bus)
    await sendMessage(newSessionId(), 'a')
    await eventually(() => handlers.length === 1)
    const start = Date.now()
    await consume('second', await broker.connect())
    await eventually(() => Date.now() - start > 6_500)
    finish('done')
    expect(handlers).toEqual(['first a'])
  })

  test('an unreadable user message is given up without delaying the next', async () => {
    const session = newSessionId()
    const outside = await connectNats(broker.url, 'outside')
    await outside.request(factSubject(session, 'input'), 'rubbish')
    const { seq } = await sendMessage(newSessionId(), 'a')
    const entries = await collectInputs()
    await eventually(() => entries.length > 0)
    expect(entries.map((entry) => entry.seq)).toEqual([seq])
    const manager = await jetstreamManager(outside)
    const unsettled = async () =>
      (await manager.consumers.info(SESSIONS_STREAM, INPUTS_CONSUMER)).num_ack_pending
    await eventually(async () => (await unsettled()) === 0, { limitMs: 4_000 })
    await outside.close()
  })
})

test('a process that stops consuming leaves inputs to others', async () => {
  const mine: string[] = []
  const theirs: string[] = []
  const consume = (by: Bus, into: string[]) =>
    by.sessions.consumeInputs(async ({ session }) => {
      into.push(session)
      return 'done'
    })
  const consuming = await consume(bus, mine)
  await sendMessage(newSessionId(), 'a')
  await eventually(() => mine.length === 1)
  await consuming[Symbol.asyncDispose]()
  await consume(await broker.connect(), theirs)
  await Promise.all(Array.from({ length: 20 }, () => sendMessage(newSessionId(), 'a')))
  await eventually(() => theirs.length === 20)
  expect(mine).toHaveLength(1)
})

test('inputs are delivered after a kill and restart of the broker', async () => {
  const sessions: SessionId[] = []
  await bus.sessions.consumeInputs(async ({ session }) => {
    sessions.push(session)
    return 'done'
  })
  for (let round = 1; round <= 2; round++) {
    await broker.kill()
    const waiting = newSessionId()
    const append = sendMessage(waiting, 'a')
    await broker.start()
    await append
    await eventually(() => sessions.includes(waiting), { limitMs: 8_000 })
  }
})
