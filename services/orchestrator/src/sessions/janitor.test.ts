import type { Bus, Lease } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryDirectory } from './__fixtures__/memory-directory.ts'
import { MemoryLog } from './__fixtures__/memory-log.ts'
import { record } from './__fixtures__/record.ts'
import { startJanitor } from './janitor.ts'

const DAY_MS = 24 * 3_600_000
const NOW = 100 * DAY_MS

let directory: MemoryDirectory
let logs: Map<SessionId, MemoryLog>
let purged: SessionId[]
/** Sessions whose files were removed. */
let erasedFiles: string[]
/** The holder of the lease. */
let holder: string | undefined
let warnings: string[]
/** Checks of the logs for damage. */
let checks: number
let outageEndedAt: number
/** What was announced of damage. */
let announced: unknown[]
let stack: AsyncDisposableStack
beforeEach(() => {
  vi.useFakeTimers()
  directory = new MemoryDirectory()
  logs = new Map()
  purged = []
  erasedFiles = []
  holder = undefined
  warnings = []
  checks = 0
  outageEndedAt = -Infinity
  announced = []
  stack = new AsyncDisposableStack()
})
afterEach(async () => {
  await stack.disposeAsync()
  vi.useRealTimers()
})

function start(sessionTtlDays: number, id = 'us', broken?: SessionId): AsyncDisposable {
  const entriesOf = (session: SessionId) => logs.get(session)?.entries ?? []
  const lease = {
    get isHeld() {
      return holder === id
    },
    async release() {
      holder = undefined
    },
  } as Lease
  const bus = {
    directory,
    clock: { now: () => NOW },
    sinceOutageMs: () => performance.now() - outageEndedAt,
    leases: {
      async acquire() {
        holder ??= id
        return holder === id ? lease : undefined
      },
    },
    sessions: {
      read: async (session: SessionId, after: number) => {
        if (session === broken) throw new BusError('internal', 'a fault')
        return entriesOf(session).filter(({ seq }) => seq > after)
      },
      async counts() {
        checks++
        return { counts: new Map(), isReliable: true, lost: [] }
      },
      isDeleted: async () => false,
      lastSequence: async (session: SessionId) => entriesOf(session).at(-1)?.seq ?? 0,
      append: async (session: SessionId, fact: Parameters<MemoryLog['add']>[0]) => ({
        seq: logs.get(session)?.add(fact) ?? 0,
      }),
      async purge(session: SessionId) {
        purged.push(session)
        logs.delete(session)
      },
    },
    catalog: {
      put: async (entry: object) => void announced.push(entry),
      remove: async () => void announced.push('none'),
    },
    snapshots: { get: async () => undefined, remove: async () => undefined },
    blobs: { removeAll: async (session: string) => void erasedFiles.push(session) },
    // The janitor uses only these members.
  } as unknown as Bus
  // The janitor logs with these methods only.
  const logger = {
    info: () => undefined,
    warn: (_: object, message: string) => void warnings.push(message),
    error: () => undefined,
  } as unknown as Logger
  return stack.use(startJanitor({ bus, logger, sessionTtlDays }))
}

/** Stores a session that was last used `daysAgo`. */
async function usedSession(daysAgo: number): Promise<SessionId> {
  const { id, ...rest } = record({ updatedAt: NOW - daysAgo * DAY_MS })
  const log = new MemoryLog('ann', id)
  log.turn('a')
  logs.set(id, log)
  await directory.put({ id, ...rest })
  return id
}

const rounds = (count: number) => vi.advanceTimersByTimeAsync(10_000 + (count - 1) * 60_000)

const stateOf = (id: SessionId) => directory.records.get(id)?.state

test('sessions without activity for the configured time are deleted', async () => {
  const old = await usedSession(31)
  const young = await usedSession(29)
  start(30)
  await rounds(1)
  expect(purged).toEqual([old])
  expect([stateOf(old), stateOf(young)]).toEqual(['deleted', 'active'])
  expect(directory.records.get(old)).toMatchObject({ isExpired: true })
})

test('a retention of 0 days deletes no session', async () => {
  await usedSession(99)
  start(0)
  await rounds(3)
  expect(purged).toEqual([])
})

test('a session whose log is newer than its record is not deleted', async () => {
  const id = await usedSession(31)
  const entries = logs.get(id)?.entries ?? []
  entries.push(...entries.slice(-1).map((last) => ({ ...last, seq: 9_999, time: NOW - DAY_MS })))
  start(30)
  await rounds(2)
  expect(stateOf(id)).toBe('active')
})

test('entries that were appended after a deletion are purged with their files', async () => {
  const id = await usedSession(1)
  const other = await usedSession(1)
  for (const each of [id, other]) {
    await directory.put(record({ id: each, state: 'deleted' }))
  }
  logs.delete(other)
  logs.get(id)?.addInput('b')
  start(30)
  await rounds(3)
  expect(purged).toEqual([id])
  expect(erasedFiles).toEqual([id])
})

test('a session that cannot be read does not delay others', async () => {
  const broken = await usedSession(31)
  const old = await usedSession(31)
  start(30, 'us', broken)
  await rounds(1)
  expect(purged).toEqual([old])
  expect(warnings).toHaveLength(1)
})

test('one janitor runs at a time, and another takes over at its end', async () => {
  const first = start(30, 'first')
  start(30, 'second')
  await rounds(2)
  expect(holder).toBe('first')
  await first[Symbol.asyncDispose]()
  const old = await usedSession(31)
  await rounds(2)
  expect(holder).toBe('second')
  expect(purged).toEqual([old])
})

test('a janitor that lost its lease deletes nothing', async () => {
  start(30)
  await rounds(1)
  holder = 'another'
  await usedSession(31)
  await rounds(2)
  expect(purged).toEqual([])
})

test('sessions are checked for damage once, and again after each outage', async () => {
  start(0)
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(checks).toBe(1)
  outageEndedAt = performance.now()
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(checks).toBe(2)
})

test('sessions that have lost entries are announced until none has', async () => {
  const id = await usedSession(1)
  const stored = directory.records.get(id)
  if (stored === undefined) throw new Error('it is stored')
  await directory.put({ ...stored, entries: 100 })
  start(0)
  await rounds(1)
  expect(announced).toEqual([{ kind: 'damage', sessions: 1 }])
  await directory.put({ ...stored, entries: 1 })
  outageEndedAt = performance.now()
  await rounds(2)
  expect(announced.at(-1)).toBe('none')
})
