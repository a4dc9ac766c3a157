import { beforeEach, describe, expect, test } from 'vitest'
import { argumentViewer } from './argument-view.ts'
import { Chain, entryHash } from './chain.ts'
import { KeptCheckpoints } from './kept-checkpoints.ts'
import type { ChainFault, VerifyOptions } from './verify-chains.ts'
import { ChainVerifier } from './verify-chains.ts'

const view = argumentViewer({ mode: 'full', redact: [] })
/** Of the entry with that number. */
const timeOf = (seq: number): string => new Date(seq * 1_000).toISOString()

/** Entries of a writer; the last is a checkpoint. */
function chainOf(writer: string, length = 6): string[] {
  const chain = new Chain(writer, view)
  return Array.from({ length }, (_, index) =>
    chain.add(
      {
        action: index === length - 1 ? 'checkpoint' : 'tool-started',
        principal: 'local',
        tool: 'echo',
      },
      (index + 1) * 1_000,
    ),
  )
}

function verify(entries: readonly string[], options: Partial<VerifyOptions> = {}): ChainFault[] {
  const faults: ChainFault[] = []
  const verifier = new ChainVerifier({
    onFault: (fault) => faults.push(fault),
    isBeginOptional: false,
    now: 3_600_000,
    ...options,
  })
  for (const entry of entries) verifier.take('me', entry)
  verifier.end()
  return faults
}

const fault = (kind: ChainFault['kind'], seq: number, more: Partial<ChainFault> = {}) => ({
  kind,
  writer: 'me',
  seq,
  time: timeOf(seq),
  ...more,
})

let entries: string[]
beforeEach(() => {
  entries = chainOf('me')
})

/** The entry as somebody would forge it, who does not write the others anew. */
function forged(seq: number, change: object): string {
  return JSON.stringify({ ...JSON.parse(entries[seq - 1] ?? ''), ...change })
}

test('untouched chains of several writers have no fault', () => {
  const faults: unknown[] = []
  const options = { isBeginOptional: false, now: 3_600_000 }
  const verifier = new ChainVerifier({ ...options, onFault: (each) => faults.push(each) })
  const other = chainOf('other')
  for (const [index, entry] of entries.entries()) {
    verifier.take('me', entry)
    verifier.take('other', other[index] ?? '')
  }
  verifier.end()
  expect(faults).toEqual([])
  expect(verifier.counts).toEqual({ writers: 2, entries: 12 })
})

describe('a fault is found', () => {
  test.each([1, 3, 5])('when entry %i was changed', (seq) => {
    entries[seq - 1] = forged(seq, { tool: 'other' })
    expect(verify(entries)).toEqual([fault('changed', seq)])
  })

  test('when a checkpoint was changed', () => {
    entries[5] = forged(6, { detail: { count: 5, hash: 'other' } })
    expect(verify(entries)).toEqual([fault('changed', 6)])
  })

  test('when an entry was replaced by something that is none', () => {
    entries[2] = 'nothing'
    expect(verify(entries)).toEqual([fault('changed', 3, { time: timeOf(2) })])
  })

  test('when entries were removed', () => {
    entries.splice(2, 2)
    expect(verify(entries)).toEqual([fault('removed', 3, { count: 2, time: timeOf(5) })])
  })

  test('when the first entries were removed', () => {
    expect(verify(entries.slice(2))).toEqual([fault('removed', 1, { count: 2, time: timeOf(3) })])
  })

  test('when an entry was added at the end of those before it', () => {
    entries.splice(2, 0, forged(3, { tool: 'added' }))
    expect(verify(entries)).toEqual([fault('added', 3)])
  })

  test('when an entry was added after the one that it repeats', () => {
    entries.splice(4, 0, entries[1] ?? '')
    expect(verify(entries)).toEqual([fault('added', 2)])
  })

  test('when two entries were exchanged', () => {
    entries.splice(2, 2, entries[3] ?? '', entries[2] ?? '')
    expect(verify(entries)).toEqual([fault('reordered', 3)])
  })

  test('when an entry was moved and changed', () => {
    entries.splice(2, 2, entries[3] ?? '', forged(3, { tool: 'other' }))
    expect(verify(entries)).toEqual([fault('reordered', 3), fault('changed', 3)])
  })

  test('when an entry of a longer gap was moved', () => {
    const [, , third = '', fourth = ''] = entries.splice(0, 4)
    expect(verify([...chainOf('me').slice(0, 1), ...entries, fourth, third])).toEqual([
      fault('reordered', 4),
      fault('reordered', 3),
      fault('removed', 2, { count: 1, time: timeOf(5) }),
    ])
  })

  test('when the last entries were removed after the last checkpoint', () => {
    expect(verify(entries.slice(0, 4))).toEqual([fault('unfinished', 4)])
  })

  test('when the chain of another writer stands in its place', () => {
    expect(verify(chainOf('other'))).toEqual([fault('changed', 1)])
  })
})

test('a writer that has written within the last minutes need not have signed off its entries', () => {
  expect(verify(entries.slice(0, 4), { now: 4_000 + 120_000 })).toEqual([])
})

test('chains may begin in the middle where older entries may have expired', () => {
  expect(verify(entries.slice(2), { isBeginOptional: true })).toEqual([])
})

describe('with the checkpoints that were kept outside of the log', () => {
  const time = timeOf(100)
  /** Those of entries 2 and 5. */
  let checkpoints: KeptCheckpoints
  beforeEach(() => {
    checkpoints = new KeptCheckpoints()
    for (const count of [2, 5]) {
      const hash = entryHash(entries[count - 1] ?? '')
      expect(checkpoints.add(JSON.stringify({ time, writer: 'me', count, hash }))).toBe(true)
    }
  })

  test('an untouched chain has no fault', () => {
    expect(verify(entries, { checkpoints })).toEqual([])
  })

  test('a chain that was written anew is found out, with the first entry that differs', () => {
    const chain = new Chain('me', view)
    const anew = ['echo', 'echo', 'other', 'echo', 'echo'].map((tool, index) =>
      chain.add({ action: 'tool-started', principal: 'local', tool }, (index + 1) * 1_000),
    )
    const end = chain.add({ action: 'checkpoint', principal: 'local', tool: 'echo' }, 6_000)
    expect(verify([...anew, end])).toEqual([])
    expect(verify([...anew, end], { checkpoints })).toEqual([fault('rewritten', 5, { time })])
  })

  test('a chain without its end is found out, and so is a missing one', () => {
    const chain = new Chain('me', view)
    const cut = [0, 1].map((index) =>
      chain.add(
        { action: index === 1 ? 'checkpoint' : 'tool-started', principal: 'local', tool: 'echo' },
        (index + 1) * 1_000,
      ),
    )
    expect(verify(cut)).toEqual([])
    expect(verify(cut, { checkpoints })).toEqual([
      fault('rewritten', 2, { time }),
      fault('cut', 3, { time, count: 3 }),
    ])
    expect(verify([], { checkpoints })).toEqual([fault('cut', 1, { time, count: 5 })])
  })

  test('entries that are not stored yet, or have expired, are not missed', () => {
    expect(verify([], { checkpoints, now: Date.parse(time) + 1_000 })).toEqual([])
    expect(verify([], { checkpoints, from: Date.parse(time) + 1 })).toEqual([])
  })

  test('a line that is no checkpoint is told apart', () => {
    expect(checkpoints.add('{"time":"2026-11-')).toBe(false)
    expect(checkpoints.add('{"writer":"me"}')).toBe(false)
    expect(checkpoints.count).toBe(2)
  })
})
