import { setImmediate as nextTick } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import type { FollowItem } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { MemoryLog } from '../sessions/__fixtures__/memory-log.ts'
import { SessionRun } from './session-run.ts'
import type { ViewBus } from '../turn/session-view.ts'
import { SessionViews } from '../turn/session-views.ts'
import type { TurnDeps } from '../turn/turn.ts'

test('a long wait of queued messages leaks no promises', async () => {
  const log = new MemoryLog()
  log.claim(log.addInput('first'))
  const inputs = Array.from({ length: 20 }, (_, index) => log.addInput(`${index}`))
  const answer = Promise.withResolvers<{ running: boolean }>()
  let news = Promise.withResolvers<void>()
  const bus = {
    id: 'me',
    clock: { now: () => Date.now() },
    sessions: {
      read: log.read.bind(log),
      lastSequence: log.lastSequence.bind(log),
      async *follow(_: SessionId, { signal }: { signal: AbortSignal }): AsyncIterable<FollowItem> {
        signal.addEventListener('abort', () => news.resolve())
        for (;;) {
          await news.promise
          if (signal.aborted) return
          news = Promise.withResolvers()
          yield { type: 'caught-up' }
        }
      },
    },
    // The orchestrator that claimed the turn answers late.
    call: () => answer.promise,
  }
  // Neither uses other members of the bus than these.
  const views = new SessionViews(bus as unknown as ViewBus)
  const deps = { bus, views } as unknown as TurnDeps
  const entries = log.entries.filter(({ seq }) => inputs.includes(seq))
  const [first] = entries
  if (first === undefined) throw new Error('there is no entry')
  const run = new SessionRun(deps, first, new AbortController().signal)
  const verdicts = entries.map((entry) => run.verdict(entry))
  const receive = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time++) {
      news.resolve()
      await nextTick()
    }
    return queryObjects(Promise, { format: 'count' })
  }
  const before = await receive(10)
  // 20 messages wait while 200 items arrive.
  expect((await receive(200)) - before).toBeLessThan(400)
  answer.resolve({ running: true })
  for (const verdict of verdicts) expect(await verdict).toEqual({ retryMs: 1_000 })
})

test('a chat is recorded before its first message gets a slot', async () => {
  const log = new MemoryLog()
  log.addInput('first')
  const bus = {
    id: 'me',
    clock: { now: () => Date.now() },
    sessions: {
      read: log.read.bind(log),
      lastSequence: log.lastSequence.bind(log),
      async *follow(): AsyncIterable<FollowItem> {},
    },
  }
  const noted: string[] = []
  const deps = {
    bus,
    // These are all members that are used without a slot.
    views: new SessionViews(bus as unknown as ViewBus),
    slots: { acquire: async () => undefined },
    note: (session: SessionId) => noted.push(session),
  } as unknown as TurnDeps
  const [first] = log.entries
  if (first === undefined) throw new Error('there is no entry')
  const run = new SessionRun(deps, first, new AbortController().signal)
  expect(await run.verdict(first)).toEqual({ retryMs: 1_000 })
  expect(noted).toEqual([first.session])
})
