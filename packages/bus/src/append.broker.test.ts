import type { LogFact, SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimed, envelope, said } from '../test/facts.ts'
import type { AppendOptions, Bus, ReadOptions } from './bus.ts'

let broker: Broker
let bus: Bus
let other: Bus

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  other = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

const append = (
  session: SessionId,
  fact: LogFact,
  messageId: string,
  options: Partial<AppendOptions> = {},
  writer = bus,
) => writer.sessions.append(session, fact, { envelope, messageId, ...options })

const stored = async (session: SessionId) =>
  (await bus.sessions.read(session, 0)).map(({ seq, fact }) => ({ seq, fact }))

describe('an append', () => {
  test('answers with sequences that grow, and stores what it was given', async () => {
    const session = newSessionId()
    const before = Date.now()
    const first = await append(session, said('a', 'hello'), 'a')
    const second = await append(session, claimed('o'), 'b')
    expect(first.duplicate).toBe(false)
    expect(second.seq).toBeGreaterThan(first.seq)
    const [input, turn] = await bus.sessions.read(session, 0)
    expect(input).toMatchObject({ ...said('a', 'hello'), session, seq: first.seq, envelope })
    expect(turn).toMatchObject({ ...claimed('o'), seq: second.seq })
    expect(Math.abs((input?.time ?? 0) - before)).toBeLessThan(5_000)
  })

  test('that is repeated under its id counts once', async () => {
    const session = newSessionId()
    const first = await append(session, said('a', 'first'), 'a')
    const again = await append(session, said('a', 'again'), 'a')
    expect(again).toMatchObject({ seq: first.seq, duplicate: true })
    expect(await stored(session)).toEqual([{ seq: first.seq, fact: { id: 'a', text: 'first' } }])
  })

  test('does not hide another session that uses the same id', async () => {
    const [ann, bob] = [newSessionId(), newSessionId()]
    const [anns, bobs] = await Promise.all(
      [ann, bob].map((session) => append(session, said('1', `of ${session}`), '1')),
    )
    expect(anns?.duplicate).toBe(false)
    expect(bobs?.duplicate).toBe(false)
    expect(await stored(ann)).toEqual([{ seq: anns?.seq, fact: { id: '1', text: `of ${ann}` } }])
    expect(await stored(bob)).toEqual([{ seq: bobs?.seq, fact: { id: '1', text: `of ${bob}` } }])
  })

  test('that is no valid fact is refused by its field and not stored', async () => {
    const session = newSessionId()
    const refused = append(session, said('a', ''), 'a')
    await expect(refused).rejects.toMatchObject({ code: 'invalid', field: 'text' })
    expect(await stored(session)).toEqual([])
  })

  test('that is too large for the broker is refused at once, not tried again', async () => {
    const refused = append(newSessionId(), said('a', 'x'.repeat(1_100_000)), 'a')
    await expect(refused).rejects.toMatchObject({ code: 'invalid' })
  }, 5_000)
})

describe('the fence', () => {
  test('lets exactly one of two writers pass', async () => {
    for (let round = 0; round < 20; round++) {
      const session = newSessionId()
      const outcomes = await Promise.allSettled([
        append(session, claimed('one'), 'one', { fence: 0 }),
        append(session, claimed('two'), 'two', { fence: 0 }, other),
      ])
      const lost = outcomes.find((outcome) => outcome.status === 'rejected')
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(lost?.reason).toMatchObject({ code: 'conflict' })
      expect(await stored(session)).toHaveLength(1)
    }
  })

  test('is passed by who knows the last turn event, whatever else was stored since', async () => {
    const session = newSessionId()
    const { seq } = await append(session, claimed('one'), 'one', { fence: 0 })
    await append(session, said('a'), 'a')
    await append(session, claimed('two'), 'two', { fence: seq })
    await expect(append(session, claimed('three'), 'three', { fence: seq })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await stored(session)).toHaveLength(3)
  })

  test('does not stop a writer whose own append passed it and is repeated', async () => {
    const session = newSessionId()
    const first = await append(session, claimed('one'), 'one', { fence: 0 })
    await append(session, claimed('two'), 'two', { fence: first.seq }, other)
    const again = await append(session, claimed('one'), 'one', { fence: 0 })
    expect(again).toEqual({ seq: first.seq, duplicate: true })
    expect(await stored(session)).toHaveLength(2)
  })
})

test('the end of a log is its last sequence and the last step of a turn, if there is one', async () => {
  const session = newSessionId()
  const nothing = { seq: 0, turnEvent: undefined }
  expect(await bus.sessions.end(session)).toEqual(nothing)
  expect(await bus.sessions.lastSequence(session)).toBe(0)
  await append(session, said('a'), 'a')
  expect(await bus.sessions.end(session)).toMatchObject({ turnEvent: undefined })
  await append(session, claimed('one'), 'one')
  const { seq: step } = await append(session, claimed('two'), 'two')
  const turnEvent = { ...claimed('two'), seq: step }
  expect(await bus.sessions.end(session)).toMatchObject({ seq: step, turnEvent })
  const { seq } = await append(session, said('b'), 'b')
  await append(newSessionId(), said('a'), 'a')
  expect(await bus.sessions.end(session)).toMatchObject({ seq, turnEvent })
  expect(await bus.sessions.lastSequence(session)).toBe(seq)
})

test('a log that is purged is empty, for good, and others are as they were', async () => {
  const [gone, kept] = [newSessionId(), newSessionId()]
  for (const session of [gone, kept]) {
    await append(session, said('a'), 'a')
    await append(session, claimed('one'), 'one', { fence: 0 })
  }
  await bus.sessions.purge(gone)
  await bus.sessions.purge(gone)
  expect(await bus.sessions.read(gone, 0)).toEqual([])
  expect(await bus.sessions.end(gone)).toEqual({ seq: 0, turnEvent: undefined })
  expect(await stored(kept)).toHaveLength(2)
})

describe('reading', () => {
  test('gives more than one batch in order and nothing of other sessions', async () => {
    const [mine, another] = [newSessionId(), newSessionId()]
    const seqs: number[] = []
    for (let round = 0; round < 11; round++) {
      const ids = Array.from({ length: 100 }, (_, index) => `${round}-${index}`)
      await append(another, said(`${round}`), `${round}`)
      const appended = await Promise.all(ids.map((id) => append(mine, said(id), id)))
      seqs.push(...appended.map(({ seq }) => seq))
    }
    const inOrder = seqs.toSorted((a, b) => a - b)
    const entries = await bus.sessions.read(mine, 0)
    expect(entries.map(({ seq }) => seq)).toEqual(inOrder)
    expect(new Set(entries.map(({ session }) => session))).toEqual(new Set([mine]))
    const after = await bus.sessions.read(mine, inOrder[99] ?? 0)
    expect(after.map(({ seq }) => seq)).toEqual(inOrder.slice(100))
  })

  test('of exactly one full batch gives that batch', async () => {
    const session = newSessionId()
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`)
    await Promise.all(ids.map((id) => append(session, said(id), id)))
    expect(await bus.sessions.read(session, 0)).toHaveLength(500)
  })

  test.each([1, 3, 4, 9])(
    'gives all up to the %i. entry when that is known to be there',
    async (count) => {
      const session = newSessionId()
      const seqs: number[] = []
      for (let index = 0; index < 10; index++) {
        seqs.push((await append(session, said(`${index}`), `${index}`)).seq)
      }
      const through = seqs[count - 1] ?? 0
      const read = (await bus.sessions.read(session, 0, { through })).map(({ seq }) => seq)
      expect(read.slice(0, count)).toEqual(seqs.slice(0, count))
      expect(read).toEqual(seqs.slice(0, read.length))
    },
  )

  test('gives no more than is asked for, from the front', async () => {
    const session = newSessionId()
    const seqs: number[] = []
    for (const id of ['a', 'b', 'c', 'd']) seqs.push((await append(session, said(id), id)).seq)
    const [first = 0, , third = 0] = seqs
    const read = async (after: number, options: ReadOptions) =>
      (await bus.sessions.read(session, after, options)).map(({ seq }) => seq)
    expect(await read(0, { limit: 2 })).toEqual(seqs.slice(0, 2))
    expect(await read(first, { until: third })).toEqual(seqs.slice(1, 3))
    expect(await read(0, { limit: 2, until: first })).toEqual([first])
    expect(await read(0, { limit: 0, through: third })).toEqual([])
  })

  test('gives all of a log that does not fit what the broker sends at once', async () => {
    const session = newSessionId()
    const text = 'x'.repeat(900_000)
    const ids = Array.from({ length: 90 }, (_, index) => `${index}`)
    for (const id of ids) await append(session, said(id, text), id)
    expect(await bus.sessions.read(session, 0)).toHaveLength(90)
  })

  test('of a session that is not there gives nothing', async () => {
    expect(await bus.sessions.read(newSessionId(), 0)).toEqual([])
  })
})
