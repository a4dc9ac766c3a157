import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import type { FollowItem } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { MemoryLog } from '../sessions/__fixtures__/memory-log.ts'
import { SessionRun } from './session-run.ts'
import type { ViewBus } from '../turn/session-view.ts'
import { SessionViews } from '../turn/session-views.ts'
import type { TurnDeps } from '../turn/turn.ts'

test('waiting for a long time leaves nothing behind', async () => {
  const log = new MemoryLog()
  log.claim(log.say('first'))
  const inputs = Array.from({ length: 20 }, (_, index) => log.say(`${index}`))
  const answer = Promise.withResolvers<{ running: boolean }>()
  let heard = Promise.withResolvers<void>()
  const bus = {
    id: 'me',
    sessions: {
      read: log.read.bind(log),
      lastSequence: log.lastSequence.bind(log),
      async *follow(_: SessionId, { signal }: { signal: AbortSignal }): AsyncIterable<FollowItem> {
        signal.addEventListener('abort', () => heard.resolve())
        for (;;) {
          await heard.promise
          if (signal.aborted) return
          heard = Promise.withResolvers()
          yield { type: 'caught-up' }
        }
      },
    },
    // Who has the turn takes its time to say so.
    call: () => answer.promise,
  }
  const views = new SessionViews(bus as unknown as ViewBus)
  const deps = { bus, views } as unknown as TurnDeps
  const entries = log.entries.filter(({ seq }) => inputs.includes(seq))
  const [first] = entries
  if (first === undefined) throw new Error('nothing was said')
  const run = new SessionRun(deps, first, new AbortController().signal)
  const verdicts = entries.map((entry) => run.verdict(entry))
  const hear = async (times: number): Promise<number> => {
    for (let time = 0; time < times; time++) {
      heard.resolve()
      await turnOfTheLoop()
    }
    return queryObjects(Promise, { format: 'count' })
  }
  const before = await hear(10)
  // 20 who wait hear of 200 things.
  expect((await hear(200)) - before).toBeLessThan(400)
  answer.resolve({ running: true })
  for (const verdict of verdicts) expect(await verdict).toEqual({ retryMs: 1_000 })
})
