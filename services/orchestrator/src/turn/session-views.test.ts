import type { Bus } from '@mcp-host/bus'
import type { LogEntry } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryLog } from '../sessions/__fixtures__/memory-log.ts'
import { openState } from './open-state.ts'
import { SessionViews } from './session-views.ts'

let log: MemoryLog
let views: SessionViews
let snapshot: Uint8Array | undefined
beforeEach(() => {
  vi.useFakeTimers()
  log = new MemoryLog()
  snapshot = undefined
  const snapshots = {
    get: async () => snapshot,
    async put(_: unknown, bytes: Uint8Array) {
      snapshot = bytes
    },
  }
  views = new SessionViews({ sessions: log, snapshots } as unknown as Bus)
})
afterEach(() => {
  views[Symbol.dispose]()
  vi.useRealTimers()
})

const use = (through: number) => views.use(log.session, through)

test('a session is read once, and what is said later is there without reading it', async () => {
  const first = log.turn('a')
  {
    using used = await use(first)
    expect(used.view.state.inputs.size).toBe(1)
  }
  const last = log.turn('b')
  using used = await use(await log.lastSequence())
  expect(used.view.state.turns.get(last)?.done).toBeDefined()
  expect(log.reads).toHaveLength(1)
})

test('two who use it at the same time have the same view, and one may leave before the other', async () => {
  const seq = log.say('a')
  const [one, other] = await Promise.all([use(seq), use(seq)])
  expect(other.view).toBe(one.view)
  one[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(60_000)
  const next = log.say('b')
  expect(await other.view.reaches(next, 0)).toBe(false)
  expect(await other.view.reaches(next, 100)).toBe(true)
  expect(log.reads).toHaveLength(1)
})

test('a session that nobody uses is closed after a while', async () => {
  const used = await use(log.say('a'))
  used[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(9_000)
  const again = await use(log.say('b'))
  expect(again.view).toBe(used.view)
  again[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(11_000)
  const last = log.say('c')
  using later = await use(last)
  expect(later.view).not.toBe(used.view)
  expect(later.view.state.seq).toBe(last)
  // Nobody follows for the one that was closed.
  await vi.advanceTimersByTimeAsync(1_000)
  expect(used.view.state.seq).toBeLessThan(last)
})

test('a view that missed what was stored is opened anew', async () => {
  const used = await use(log.say('a'))
  used[Symbol.dispose]()
  const seq = log.say('b')
  log.lost.add(seq)
  const pending = use(seq)
  await vi.advanceTimersByTimeAsync(300)
  using other = await pending
  expect(other.view).not.toBe(used.view)
  expect(other.view.state.seq).toBe(seq)
})

test('a view that missed a turn event which stands before what it knows is opened anew', async () => {
  const first = log.say('a')
  const used = await use(first)
  log.claim(first)
  log.lost.add(log.entries.at(-1)?.seq ?? 0)
  const last = log.say('b')
  await vi.advanceTimersByTimeAsync(0)
  expect(used.view.state.seq).toBe(last)
  const passes = used.view.passes(used.view.state.fence)
  await vi.advanceTimersByTimeAsync(6_000)
  expect(await passes).toBe(false)
  used[Symbol.dispose]()
  using other = await use(last)
  expect(other.view.state.fence).toBeGreaterThan(0)
})

test('a view that missed a message which stands before what it knows is opened anew', async () => {
  const used = await use(log.say('a'))
  used[Symbol.dispose]()
  const seq = log.say('b')
  log.lost.add(seq)
  const last = log.add({ kind: 'control', fact: { type: 'cancel-requested' } })
  const entries = log.entries.slice(-2)
  using again = await use(last)
  expect(again.view).toBe(used.view)
  expect(entries.map((entry) => again.view.misses(entry))).toEqual([true, false])
  using other = await use(seq)
  expect(other.view.state.unfinished).toContain(seq)
  expect(entries.map((entry) => other.view.misses(entry))).toEqual([false, false])
  // What was purged was not missed.
  const [entry] = entries
  const purged = { ...entry, seq: 1, fact: { id: 'old', text: '' } } as LogEntry
  expect(other.view.misses(purged)).toBe(false)
})

test('a view that breaks while it is waited for is opened anew, and kept by nobody', async () => {
  const used = await use(log.say('a'))
  used[Symbol.dispose]()
  vi.spyOn(used.view, 'reaches').mockRejectedValueOnce(new Error('deleted'))
  using other = await use(log.say('b'))
  expect(other.view).not.toBe(used.view)
})

test('the view of a deleted session is not used again', async () => {
  log.say('a')
  const seq = log.add({ kind: 'control', fact: { type: 'session-deleted' } })
  const used = await use(seq)
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(other.view).not.toBe(used.view)
})

test('what was purged is missing, and nobody waits for it', async () => {
  const seq = log.say('a')
  const used = await use(seq)
  used[Symbol.dispose]()
  log.entries.length = 0
  const pending = use(seq + 3)
  await vi.advanceTimersByTimeAsync(300)
  using other = await pending
  expect(other.view.state.seq).toBe(0)
})

test('a log that cannot be read is read again by the next one', async () => {
  const read = vi.spyOn(log, 'read').mockRejectedValueOnce(new Error('away'))
  const seq = log.say('a')
  const results = await Promise.allSettled([use(seq), use(seq)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  using used = await use(seq)
  expect(used.view.state.seq).toBe(seq)
  expect(read).toHaveBeenCalledTimes(2)
})

test('a view that broke is opened anew', async () => {
  vi.spyOn(log, 'follow').mockImplementationOnce(() => {
    throw new Error('deleted')
  })
  const seq = log.say('a')
  const used = await use(seq)
  await expect(used.view.change(1_000)).rejects.toThrow('deleted')
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(other.view).not.toBe(used.view)
})

test('after a snapshot the session is opened from it: a view in use grows with all that is said', async () => {
  for (let turn = 0; turn < 300; turn++) log.turn(`${turn}`, 'x'.repeat(10_000))
  const seq = await log.lastSequence()
  const used = await use(seq)
  await used.view.keepSnapshot()
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(used.view.state.prunedThrough).toBe(0)
  expect(other.view.state.prunedThrough).toBeGreaterThan(0)
})

test('a snapshot with entries that were lost since is not used', async () => {
  for (let turn = 0; turn < 300; turn++) log.turn(`${turn}`, 'x'.repeat(10_000))
  const last = log.entries.at(-1)?.seq ?? 0
  const used = await use(last)
  await used.view.keepSnapshot()
  used[Symbol.dispose]()
  expect(snapshot).toBeDefined()
  log.entries.pop()
  const kept = log.entries.at(-1)?.seq ?? 0
  log.lostRanges = [{ after: kept, through: last + 1_000, at: 0 }]
  // Only what opening a state reads.
  const bus = { sessions: log, snapshots: { get: async () => snapshot } } as unknown as Bus
  expect((await openState(bus, log.session)).seq).toBe(kept)
})
