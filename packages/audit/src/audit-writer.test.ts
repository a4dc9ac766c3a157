import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AuditWriterDeps, AuditWriterOptions } from './audit-writer.ts'
import { AuditWriter } from './audit-writer.ts'
import type { AuditRecord } from './audit-entry.ts'
import { AuditEntry } from './audit-entry.ts'
import type { ChainFault } from './verify-chains.ts'
import { ChainVerifier } from './verify-chains.ts'

const record: AuditRecord = { action: 'key-created', principal: 'local', arguments: { a: 1 } }

let appends: string[][]
let isAway: boolean
let told: unknown[]
let deps: AuditWriterDeps
beforeEach(() => {
  vi.useFakeTimers()
  appends = []
  isAway = false
  told = []
  deps = {
    store: {
      async append(writer, entries) {
        expect(writer).toBe('me')
        if (isAway) throw new Error('away')
        appends.push([...entries])
      },
    },
    onStored: (count) => told.push(`stored ${count}`),
    onDropped: () => told.push('dropped'),
    onFault: (error) => told.push(error === undefined ? 'well again' : 'faulty'),
    onCheckpoint: ({ count }) => told.push(`checkpoint ${count}`),
  }
})
afterEach(() => vi.useRealTimers())

type Limits = ConstructorParameters<typeof AuditWriter>[2]

function makeWriter(mode: AuditWriterOptions['mode'] = 'async', limits: Limits = {}): AuditWriter {
  const options = { writer: 'me', mode, arguments: { mode: 'full', redact: [] } } as const
  return new AuditWriter(deps, options, limits)
}

const stored = (): AuditEntry[] => appends.flat().map((text) => AuditEntry.parse(JSON.parse(text)))

function faults(): ChainFault[] {
  const found: ChainFault[] = []
  const options = { isBeginOptional: false, now: Date.now() + 3_600_000 }
  const verifier = new ChainVerifier({ ...options, onFault: (fault) => found.push(fault) })
  for (const text of appends.flat()) verifier.take('me', text)
  verifier.end()
  return found
}

describe('in async mode', () => {
  test('entries of fifty milliseconds are stored in one piece, without a wait for the caller', async () => {
    await using writer = makeWriter()
    expect(writer.record(record)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(25)
    expect(writer.record({ ...record, action: 'login' })).toBeUndefined()
    expect(appends).toEqual([])
    await vi.advanceTimersByTimeAsync(25)
    expect(appends.map((entries) => entries.length)).toEqual([2])
    expect(stored()).toMatchObject([
      { seq: 1, action: 'key-created', arguments: { a: 1 } },
      { seq: 2, action: 'login' },
    ])
    expect(writer.lagMs).toBe(0)
  })

  test('entries wait while the store is away, and are stored in order when it is back', async () => {
    await using writer = makeWriter()
    isAway = true
    void writer.record(record)
    await vi.advanceTimersByTimeAsync(500)
    void writer.record({ ...record, tool: 'second' })
    await vi.advanceTimersByTimeAsync(500)
    expect(writer.lagMs).toBe(1_000)
    expect(told).toEqual(['faulty'])
    isAway = false
    await vi.advanceTimersByTimeAsync(200)
    expect(stored()).toMatchObject([{ seq: 1 }, { seq: 2, tool: 'second' }])
    expect(told).toEqual(['faulty', 'well again', 'stored 1', 'stored 1'])
    expect(writer.lagMs).toBe(0)
  })

  test('entries beyond the limit of the queue are dropped, and the next entry says how many', async () => {
    const writer = makeWriter('async', { queued: 3 })
    isAway = true
    for (let count = 0; count < 5; count++) expect(writer.record(record)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(500)
    void writer.record(record)
    isAway = false
    await vi.advanceTimersByTimeAsync(500)
    void writer.record(record)
    await writer[Symbol.asyncDispose]()
    expect(told.filter((each) => each === 'dropped')).toHaveLength(3)
    expect(stored().map(({ dropped }) => dropped)).toEqual([
      undefined,
      undefined,
      undefined,
      3,
      undefined,
    ])
    expect(faults()).toEqual([])
  })

  test('entries beyond the size of the queue are dropped', async () => {
    await using writer = makeWriter('async', { queuedLength: 100 })
    isAway = true
    void writer.record(record)
    await vi.advanceTimersByTimeAsync(50)
    void writer.record(record)
    expect(told).toContain('dropped')
    isAway = false
    await vi.advanceTimersByTimeAsync(200)
  })

  test('an action that ends before its start is stored has one entry, with the arguments', async () => {
    await using writer = makeWriter()
    const end = { action: 'tool-finished', principal: 'user:ann', outcome: 'ok' } as const
    const [short, long] = [
      { ...record, action: 'tool-started' as const, call: 'short' },
      { ...record, action: 'tool-started' as const, call: 'long' },
    ]
    void writer.record(short)
    void writer.record({ ...end, call: 'short', start: short })
    void writer.record(long)
    await vi.advanceTimersByTimeAsync(50)
    void writer.record({ ...end, call: 'long', start: long })
    await vi.advanceTimersByTimeAsync(50)
    expect(stored()).toMatchObject([
      { seq: 1, action: 'tool-finished', call: 'short', outcome: 'ok', arguments: { a: 1 } },
      { seq: 2, action: 'tool-started', call: 'long', arguments: { a: 1 } },
      { seq: 3, action: 'tool-finished', call: 'long', outcome: 'ok' },
    ])
    expect(stored()[2]).not.toHaveProperty('arguments')
  })

  test('an entry that tells of the start as well has the number of entries lost before the start', async () => {
    await using writer = makeWriter('async', { queued: 2 })
    for (let count = 0; count < 3; count++) void writer.record(record)
    await vi.advanceTimersByTimeAsync(50)
    const start = { ...record, action: 'tool-started' } as const
    void writer.record(start)
    void writer.record({ ...record, action: 'tool-finished', start })
    await vi.advanceTimersByTimeAsync(50)
    expect(stored()[2]).toMatchObject({ action: 'tool-finished', dropped: 1 })
    expect(faults()).toMatchObject([{ kind: 'unfinished' }])
  })

  test('many entries are stored in pieces of limited size', async () => {
    await using writer = makeWriter('async', { appendLength: 1_000 })
    for (let count = 0; count < 20; count++) void writer.record(record)
    await vi.advanceTimersByTimeAsync(50)
    expect(appends.length).toBeGreaterThan(3)
    expect(Math.max(...appends.map((entries) => entries.join('').length))).toBeLessThan(1_001)
    expect(stored().map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
  })
})

describe('in required mode', () => {
  test('a caller waits until its entry is stored', async () => {
    await using writer = makeWriter('required')
    const ends: string[] = []
    const done = writer.record(record)?.then(() => ends.push(`stored ${appends.length}`))
    expect(ends).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await done
    expect(ends).toEqual(['stored 1'])
  })

  test('a caller is refused when its entry cannot be stored in time, and the chain stays whole', async () => {
    const writer = makeWriter('required')
    isAway = true
    const refused = expect(writer.record(record)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the audit log cannot be written; try again',
    })
    await vi.advanceTimersByTimeAsync(15_000)
    await refused
    isAway = false
    await vi.advanceTimersByTimeAsync(200)
    await writer[Symbol.asyncDispose]()
    expect(stored().map(({ action }) => action)).toEqual(['key-created', 'checkpoint'])
    expect(faults()).toEqual([])
  })

  test('a caller is refused at once when the queue is full', async () => {
    await using writer = makeWriter('required', { queued: 0 })
    await expect(writer.record(record)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('a checkpoint is written', () => {
  test('each minute in which there were entries', async () => {
    await using writer = makeWriter()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(appends).toEqual([])
    void writer.record(record)
    void writer.record(record)
    await vi.advanceTimersByTimeAsync(180_000)
    expect(stored()).toMatchObject([{}, {}, { action: 'checkpoint', detail: { count: 2 } }])
    expect(told).toContain('checkpoint 2')
    void writer.record(record)
    await vi.advanceTimersByTimeAsync(60_100)
    expect(stored().slice(3)).toMatchObject([{}, { action: 'checkpoint', detail: { count: 4 } }])
  })

  test('at the end, after all that was recorded', async () => {
    const writer = makeWriter()
    void writer.record(record)
    await writer[Symbol.asyncDispose]()
    expect(stored()).toMatchObject([{ action: 'key-created' }, { action: 'checkpoint' }])
    expect(faults()).toEqual([])
    void writer.record(record)
    expect(told).toContain('dropped')
  })

  test('not at the end of a writer without entries', async () => {
    await makeWriter()[Symbol.asyncDispose]()
    expect(appends).toEqual([])
  })
})

test('the end does not wait for a store that is away for longer than two seconds', async () => {
  const writer = makeWriter()
  isAway = true
  void writer.record(record)
  let isOver = false
  const closed = writer[Symbol.asyncDispose]().then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(1_900)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(200)
  expect(isOver).toBe(true)
  await closed
})
