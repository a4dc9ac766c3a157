import type { LogFact, SessionId } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turnClaimed, envelope, userMessage } from '../test/facts.ts'
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
  test('an append returns growing sequences and stores the fact', async () => {
    const session = newSessionId()
    const before = Date.now()
    const first = await append(session, userMessage('a', 'hello'), 'a')
    const second = await append(session, turnClaimed('o'), 'b')
    expect(first.duplicate).toBe(false)
    expect(second.seq).toBeGreaterThan(first.seq)
    const [input, turn] = await bus.sessions.read(session, 0)
    expect(input).toMatchObject({ ...userMessage('a', 'hello'), session, seq: first.seq, envelope })
    expect(turn).toMatchObject({ ...turnClaimed('o'), seq: second.seq })
    expect(Math.abs((input?.time ?? 0) - before)).toBeLessThan(5_000)
  })

  test('an append that is repeated under its id is stored once', async () => {
    const session = newSessionId()
    const first = await append(session, userMessage('a', 'first'), 'a')
    const again = await append(session, userMessage('a', 'again'), 'a')
    expect(again).toMatchObject({ seq: first.seq, duplicate: true })
    expect(await stored(session)).toEqual([{ seq: first.seq, fact: { id: 'a', text: 'first' } }])
  })

  test('appends of two sessions under the same id are both stored', async () => {
    const [ann, bob] = [newSessionId(), newSessionId()]
    const [anns, bobs] = await Promise.all(
      [ann, bob].map((session) => append(session, userMessage('1', `of ${session}`), '1')),
    )
    expect(anns?.duplicate).toBe(false)
    expect(bobs?.duplicate).toBe(false)
    expect(await stored(ann)).toEqual([{ seq: anns?.seq, fact: { id: '1', text: `of ${ann}` } }])
    expect(await stored(bob)).toEqual([{ seq: bobs?.seq, fact: { id: '1', text: `of ${bob}` } }])
  })

  test('an append of an invalid fact is refused with its field and not stored', async () => {
    const session = newSessionId()
    // Text only by its type.
    const refused = append(session, userMessage('a', 1 as unknown as string), 'a')
    await expect(refused).rejects.toMatchObject({ code: 'invalid', field: 'text' })
    expect(await stored(session)).toEqual([])
  })

  test('an append that is too large for the broker is refused without a retry', async () => {
    const refused = append(newSessionId(), userMessage('a', 'x'.repeat(1_100_000)), 'a')
    await expect(refused).rejects.toMatchObject({ code: 'invalid' })
  }, 5_000)
})

describe('the fence', () => {
  test('the fence admits exactly one of two writers', async () => {
    for (let round = 0; round < 20; round++) {
      const session = newSessionId()
      const outcomes = await Promise.allSettled([
        append(session, turnClaimed('one'), 'one', { fence: 0 }),
        append(session, turnClaimed('two'), 'two', { fence: 0 }, other),
      ])
      const lost = outcomes.find((outcome) => outcome.status === 'rejected')
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(lost?.reason).toMatchObject({ code: 'conflict' })
      expect(await stored(session)).toHaveLength(1)
    }
  })

  test('the fence admits a writer that has read the last turn event, whatever other facts followed', async () => {
    const session = newSessionId()
    const { seq } = await append(session, turnClaimed('one'), 'one', { fence: 0 })
    await append(session, userMessage('a'), 'a')
    await append(session, turnClaimed('two'), 'two', { fence: seq })
    await expect(
      append(session, turnClaimed('three'), 'three', { fence: seq }),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await stored(session)).toHaveLength(3)
  })

  test('the fence admits the repetition of an append that passed it', async () => {
    const session = newSessionId()
    const first = await append(session, turnClaimed('one'), 'one', { fence: 0 })
    await append(session, turnClaimed('two'), 'two', { fence: first.seq }, other)
    const again = await append(session, turnClaimed('one'), 'one', { fence: 0 })
    expect(again).toEqual({ seq: first.seq, duplicate: true })
    expect(await stored(session)).toHaveLength(2)
  })
})

test('the end of a log is its last sequence and its last turn event, if it has one', async () => {
  const session = newSessionId()
  const empty = { seq: 0, turnEvent: undefined }
  expect(await bus.sessions.end(session)).toEqual(empty)
  expect(await bus.sessions.lastSequence(session)).toBe(0)
  await append(session, userMessage('a'), 'a')
  expect(await bus.sessions.end(session)).toMatchObject({ turnEvent: undefined })
  await append(session, turnClaimed('one'), 'one')
  const { seq: step } = await append(session, turnClaimed('two'), 'two')
  const turnEvent = { ...turnClaimed('two'), seq: step }
  expect(await bus.sessions.end(session)).toMatchObject({ seq: step, turnEvent })
  const { seq } = await append(session, userMessage('b'), 'b')
  await append(newSessionId(), userMessage('a'), 'a')
  expect(await bus.sessions.end(session)).toMatchObject({ seq, turnEvent })
  expect(await bus.sessions.lastSequence(session)).toBe(seq)
})

test('a purged log stays empty, and other logs are unchanged', async () => {
  const [purged, untouched] = [newSessionId(), newSessionId()]
  for (const session of [purged, untouched]) {
    await append(session, userMessage('a'), 'a')
    await append(session, turnClaimed('one'), 'one', { fence: 0 })
  }
  await bus.sessions.purge(purged)
  await bus.sessions.purge(purged)
  expect(await bus.sessions.read(purged, 0)).toEqual([])
  expect(await bus.sessions.end(purged)).toEqual({ seq: 0, turnEvent: undefined })
  expect(await stored(untouched)).toHaveLength(2)
})

describe('reading', () => {
  test('a read returns several batches in order, and no entries of other sessions', async () => {
    const [mine, another] = [newSessionId(), newSessionId()]
    const seqs: number[] = []
    for (let round = 0; round < 11; round++) {
      const ids = Array.from({ length: 100 }, (_, index) => `${round}-${index}`)
      await append(another, userMessage(`${round}`), `${round}`)
      const appended = await Promise.all(ids.map((id) => append(mine, userMessage(id), id)))
      seqs.push(...appended.map(({ seq }) => seq))
    }
    const inOrder = seqs.toSorted((a, b) => a - b)
    const entries = await bus.sessions.read(mine, 0)
    expect(entries.map(({ seq }) => seq)).toEqual(inOrder)
    expect(new Set(entries.map(({ session }) => session))).toEqual(new Set([mine]))
    const after = await bus.sessions.read(mine, inOrder[99] ?? 0)
    expect(after.map(({ seq }) => seq)).toEqual(inOrder.slice(100))
  })

  test('a read of exactly one full batch returns the batch', async () => {
    const session = newSessionId()
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`)
    await Promise.all(ids.map((id) => append(session, userMessage(id), id)))
    expect(await bus.sessions.read(session, 0)).toHaveLength(500)
  })

  test.each([1, 3, 4, 9])(
    'a read through the entry %i returns all entries up to it',
    async (count) => {
      const session = newSessionId()
      const seqs: number[] = []
      for (let index = 0; index < 10; index++) {
        seqs.push((await append(session, userMessage(`${index}`), `${index}`)).seq)
      }
      const through = seqs[count - 1] ?? 0
      const read = (await bus.sessions.read(session, 0, { through })).map(({ seq }) => seq)
      expect(read.slice(0, count)).toEqual(seqs.slice(0, count))
      expect(read).toEqual(seqs.slice(0, read.length))
    },
  )

  test('a read returns the first entries up to its limits', async () => {
    const session = newSessionId()
    const seqs: number[] = []
    for (const id of ['a', 'b', 'c', 'd'])
      seqs.push((await append(session, userMessage(id), id)).seq)
    const [first = 0, , third = 0] = seqs
    const read = async (after: number, options: ReadOptions) =>
      (await bus.sessions.read(session, after, options)).map(({ seq }) => seq)
    expect(await read(0, { limit: 2 })).toEqual(seqs.slice(0, 2))
    expect(await read(first, { until: third })).toEqual(seqs.slice(1, 3))
    expect(await read(0, { limit: 2, until: first })).toEqual([first])
    expect(await read(0, { limit: 0, through: third })).toEqual([])
  })

  test('a read returns a log that is larger than one answer of the broker', async () => {
    const session = newSessionId()
    const text = 'x'.repeat(900_000)
    const ids = Array.from({ length: 90 }, (_, index) => `${index}`)
    for (const id of ids) await append(session, userMessage(id, text), id)
    expect(await bus.sessions.read(session, 0)).toHaveLength(90)
  })

  test('a read of an unknown session returns no entries', async () => {
    expect(await bus.sessions.read(newSessionId(), 0)).toEqual([])
  })
})
