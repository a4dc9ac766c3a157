import { setImmediate as nextTick } from 'node:timers/promises'
import type { FollowItem, ReadOptions } from '@mcp-host/bus'
import type { LogEntry, SessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryLog } from '../sessions/__fixtures__/memory-log.ts'
import type { ViewBus } from '../turn/session-view.ts'
import { SessionViews } from '../turn/session-views.ts'
import type { TurnDeps } from '../turn/turn.ts'
import type { Runs } from './run-session.ts'
import { runSession } from './run-session.ts'

let log: MemoryLog
let deps: TurnDeps
let runs: Runs
let leave: AbortController
/** The delayed answer of the orchestrator that claimed the turn. */
let answer: PromiseWithResolvers<{ running: boolean }>
/** Requests to the orchestrator that claimed the turn. */
let probes: number
/** The last sequence that a follower has received. */
let followedSeq: number

beforeEach(() => {
  log = new MemoryLog()
  runs = new Map()
  leave = new AbortController()
  answer = Promise.withResolvers()
  probes = 0
  followedSeq = 0
  // The turns of these tests use no other member.
  deps = { bus, views: new SessionViews(bus as unknown as ViewBus) } as unknown as TurnDeps
})
// Ends runs that a failed test left behind.
afterEach(() => {
  leave.abort()
  answer.resolve({ running: true })
})

const bus = {
  id: 'me',
  clock: { now: () => Date.now() },
  snapshots: { get: async () => undefined },
  sessions: {
    lastSequence: () => log.lastSequence(),
    async read(session: SessionId, after: number, options?: ReadOptions): Promise<LogEntry[]> {
      // As over a network: an endless read yields to the event loop.
      await nextTick()
      return log.read(session, after, options)
    },
    async *follow(
      _: SessionId,
      { after, signal }: { after: number; signal: AbortSignal },
    ): AsyncIterable<FollowItem> {
      followedSeq = after
      for (; !signal.aborted; await nextTick()) {
        for (const entry of log.entries.filter(({ seq }) => seq > followedSeq)) {
          yield { type: 'entry', entry }
          followedSeq = entry.seq
        }
      }
    },
  },
  call() {
    probes++
    return answer.promise
  },
}

const runEntry = (entry: LogEntry) => runSession(deps, runs, leave.signal, entry)

/** Messages behind a turn that another orchestrator has claimed. */
function queue(count: number): LogEntry[] {
  log.claim(log.addInput('first'))
  for (let index = 1; index < count; index++) log.addInput(`${index}`)
  return log.entries.filter(({ kind }) => kind === 'input')
}

test('entries that were purged before they were read are done', async () => {
  log.addInput('a')
  log.add({ kind: 'control', fact: { type: 'session-deleted' } })
  const entries = log.entries.splice(0)
  for (const entry of entries) expect(await runEntry(entry)).toBe('done')
  expect(log.reads).toHaveLength(2)
  expect(runs.size).toBe(0)
})

test('messages queued behind a turn at a peer share one read of the session', async () => {
  const verdicts = queue(100).map(runEntry)
  answer.resolve({ running: true })
  for (const verdict of verdicts) expect(await verdict).toEqual({ retryMs: 1_000 })
  expect(log.reads).toHaveLength(1)
  expect(probes).toBe(1)
})

test('messages that arrive while a peer is probed share one further read', async () => {
  const early = queue(2).map(runEntry)
  await expect.poll(() => probes).toBe(1)
  log.addInput('late')
  const last = log.addInput('later')
  const late = log.entries.slice(-2).map(runEntry)
  await expect.poll(() => followedSeq).toBe(last)
  answer.resolve({ running: true })
  for (const verdict of [...early, ...late]) expect(await verdict).toEqual({ retryMs: 1_000 })
  expect(log.reads).toHaveLength(2)
})

test('unread entries are handed back at once when the process stops', async () => {
  queue(1)
  log.add({ kind: 'control', fact: { type: 'cancel-requested' } })
  const verdicts = log.entries.filter(({ kind }) => kind !== 'turn').map(runEntry)
  leave.abort()
  expect(await Promise.all(verdicts)).toEqual([{ retryMs: 0 }, { retryMs: 0 }])
})
