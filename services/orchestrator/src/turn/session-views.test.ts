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
  // SessionViews uses only these members.
  views = new SessionViews({ sessions: log, snapshots } as unknown as Bus)
})
afterEach(() => {
  views[Symbol.dispose]()
  vi.useRealTimers()
})

const use = (through: number) => views.use(log.session, through)

test('a session is read once, and later entries are followed', async () => {
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

test('concurrent users share one view, which stays until the last has left', async () => {
  const seq = log.addInput('a')
  const [one, other] = await Promise.all([use(seq), use(seq)])
  expect(other.view).toBe(one.view)
  one[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(60_000)
  const next = log.addInput('b')
  expect(await other.view.reaches(next, 0)).toBe(false)
  expect(await other.view.reaches(next, 100)).toBe(true)
  expect(log.reads).toHaveLength(1)
})

test('an unused view is closed after a timeout', async () => {
  const used = await use(log.addInput('a'))
  used[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(9_000)
  const again = await use(log.addInput('b'))
  expect(again.view).toBe(used.view)
  again[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(11_000)
  const last = log.addInput('c')
  using later = await use(last)
  expect(later.view).not.toBe(used.view)
  expect(later.view.state.seq).toBe(last)
  // The closed view does not follow the log.
  await vi.advanceTimersByTimeAsync(1_000)
  expect(used.view.state.seq).toBeLessThan(last)
})

test('a view that missed an entry is reopened', async () => {
  const used = await use(log.addInput('a'))
  used[Symbol.dispose]()
  const seq = log.addInput('b')
  log.lost.add(seq)
  const pending = use(seq)
  await vi.advanceTimersByTimeAsync(300)
  using other = await pending
  expect(other.view).not.toBe(used.view)
  expect(other.view.state.seq).toBe(seq)
})

test('a view that missed a turn event before its last entry is reopened', async () => {
  const first = log.addInput('a')
  const used = await use(first)
  log.claim(first)
  log.lost.add(log.entries.at(-1)?.seq ?? 0)
  const last = log.addInput('b')
  await vi.advanceTimersByTimeAsync(0)
  expect(used.view.state.seq).toBe(last)
  const passes = used.view.passes(used.view.state.fence)
  await vi.advanceTimersByTimeAsync(6_000)
  expect(await passes).toBe(false)
  used[Symbol.dispose]()
  using other = await use(last)
  expect(other.view.state.fence).toBeGreaterThan(0)
})

test('a view that missed a message before its last entry is reopened', async () => {
  const used = await use(log.addInput('a'))
  used[Symbol.dispose]()
  const seq = log.addInput('b')
  log.lost.add(seq)
  const last = log.add({ kind: 'control', fact: { type: 'cancel-requested' } })
  const entries = log.entries.slice(-2)
  using again = await use(last)
  expect(again.view).toBe(used.view)
  expect(entries.map((entry) => again.view.misses(entry))).toEqual([true, false])
  using other = await use(seq)
  expect(other.view.state.unfinished).toContain(seq)
  expect(entries.map((entry) => other.view.misses(entry))).toEqual([false, false])
  // A purged entry does not count as missed.
  const [entry] = entries
  const purged = { ...entry, seq: 1, fact: { id: 'old', text: '' } } as LogEntry
  expect(other.view.misses(purged)).toBe(false)
})

test('a view that fails while it catches up is replaced', async () => {
  const used = await use(log.addInput('a'))
  used[Symbol.dispose]()
  vi.spyOn(used.view, 'reaches').mockRejectedValueOnce(new Error('deleted'))
  using other = await use(log.addInput('b'))
  expect(other.view).not.toBe(used.view)
})

test('the view of a deleted session is not reused', async () => {
  log.addInput('a')
  const seq = log.add({ kind: 'control', fact: { type: 'session-deleted' } })
  const used = await use(seq)
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(other.view).not.toBe(used.view)
})

test('a view does not wait for purged entries', async () => {
  const seq = log.addInput('a')
  const used = await use(seq)
  used[Symbol.dispose]()
  log.entries.length = 0
  const pending = use(seq + 3)
  await vi.advanceTimersByTimeAsync(300)
  using other = await pending
  expect(other.view.state.seq).toBe(0)
})

test('a failed read of a log is repeated by the next user', async () => {
  const read = vi.spyOn(log, 'read').mockRejectedValueOnce(new Error('away'))
  const seq = log.addInput('a')
  const results = await Promise.allSettled([use(seq), use(seq)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  using used = await use(seq)
  expect(used.view.state.seq).toBe(seq)
  expect(read).toHaveBeenCalledTimes(2)
})

test('a view whose follow failed is reopened', async () => {
  vi.spyOn(log, 'follow').mockImplementationOnce(() => {
    throw new Error('deleted')
  })
  const seq = log.addInput('a')
  const used = await use(seq)
  await expect(used.view.change(1_000)).rejects.toThrow('deleted')
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(other.view).not.toBe(used.view)
})

test('a view is reopened from the snapshot that it stored, to free pruned text', async () => {
  for (let turn = 0; turn < 300; turn++) log.turn(`${turn}`, 'x'.repeat(10_000))
  const seq = await log.lastSequence()
  const used = await use(seq)
  await used.view.keepSnapshot()
  used[Symbol.dispose]()
  using other = await use(seq)
  expect(used.view.state.prunedThrough).toBe(0)
  expect(other.view.state.prunedThrough).toBeGreaterThan(0)
})

test('a snapshot that covers lost entries is not used', async () => {
  for (let turn = 0; turn < 300; turn++) log.turn(`${turn}`, 'x'.repeat(10_000))
  const last = log.entries.at(-1)?.seq ?? 0
  const used = await use(last)
  await used.view.keepSnapshot()
  used[Symbol.dispose]()
  expect(snapshot).toBeDefined()
  log.entries.pop()
  const remaining = log.entries.at(-1)?.seq ?? 0
  log.lostRanges = [{ after: remaining, through: last + 1_000, at: 0 }]
  // openState uses only these members.
  const bus = { sessions: log, snapshots: { get: async () => snapshot } } as unknown as Bus
  expect((await openState(bus, log.session)).seq).toBe(remaining)
})
