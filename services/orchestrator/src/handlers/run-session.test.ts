import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
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
/** Whether the orchestrator that claimed the turn says it is at work on it; it takes its time. */
let answer: PromiseWithResolvers<{ running: boolean }>
/** How often that was asked. */
let probes: number
/** The last sequence that was followed. */
let heard: number

beforeEach(() => {
  log = new MemoryLog()
  runs = new Map()
  leave = new AbortController()
  answer = Promise.withResolvers()
  probes = 0
  heard = 0
  // Of the rest no turn gets as far as using it.
  deps = { bus, views: new SessionViews(bus as unknown as ViewBus) } as unknown as TurnDeps
})
// Ends what a failed test left running.
afterEach(() => {
  leave.abort()
  answer.resolve({ running: true })
})

const bus = {
  id: 'me',
  snapshots: { get: async () => undefined },
  sessions: {
    lastSequence: () => log.lastSequence(),
    async read(session: SessionId, after: number, options?: ReadOptions): Promise<LogEntry[]> {
      // As over a network: an endless read yields to the event loop.
      await turnOfTheLoop()
      return log.read(session, after, options)
    },
    async *follow(
      _: SessionId,
      { after, signal }: { after: number; signal: AbortSignal },
    ): AsyncIterable<FollowItem> {
      heard = after
      for (; !signal.aborted; await turnOfTheLoop()) {
        for (const entry of log.entries.filter(({ seq }) => seq > heard)) {
          yield { type: 'entry', entry }
          heard = entry.seq
        }
      }
    },
  },
  call() {
    probes++
    return answer.promise
  },
}

const look = (entry: LogEntry) => runSession(deps, runs, leave.signal, entry)

/** Messages behind a turn that another orchestrator has claimed. */
function queue(count: number): LogEntry[] {
  log.claim(log.say('first'))
  for (let index = 1; index < count; index++) log.say(`${index}`)
  return log.entries.filter(({ kind }) => kind === 'input')
}

test('what was purged before it was looked at needs nobody any more', async () => {
  log.say('a')
  log.add({ kind: 'control', fact: { type: 'session-deleted' } })
  const entries = log.entries.splice(0)
  for (const entry of entries) expect(await look(entry)).toBe('done')
  expect(log.reads).toHaveLength(2)
  expect(runs.size).toBe(0)
})

test('all messages behind a turn that runs elsewhere cost one look at the session', async () => {
  const verdicts = queue(100).map(look)
  answer.resolve({ running: true })
  for (const verdict of verdicts) expect(await verdict).toEqual({ retryMs: 1_000 })
  expect(log.reads).toHaveLength(1)
  expect(probes).toBe(1)
})

test('those that come while somebody else is asked about the turn get one look of their own', async () => {
  const early = queue(2).map(look)
  await expect.poll(() => probes).toBe(1)
  log.say('late')
  const last = log.say('later')
  const late = log.entries.slice(-2).map(look)
  await expect.poll(() => heard).toBe(last)
  answer.resolve({ running: true })
  for (const verdict of [...early, ...late]) expect(await verdict).toEqual({ retryMs: 1_000 })
  expect(log.reads).toHaveLength(2)
})

test('what nobody looked at, because the process leaves, goes back at once', async () => {
  queue(1)
  log.add({ kind: 'control', fact: { type: 'cancel-requested' } })
  const verdicts = log.entries.filter(({ kind }) => kind !== 'turn').map(look)
  leave.abort()
  expect(await Promise.all(verdicts)).toEqual([{ retryMs: 0 }, { retryMs: 0 }])
})
