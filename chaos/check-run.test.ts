import { expect, test } from 'vitest'
import type { Excuse } from './check/excuses.ts'
import { checkRun } from './check-run.ts'
import type { ChaosSession } from './session.ts'

/** The rules that a run of 4 messages without answers breaks, some of which a reported loss explains. */
function rulesOf(excusedMessages: number): string[] {
  const ids = ['s0-0', 's0-1', 's0-2', 's0-3']
  const client = { accepted: new Map(), checks: [], received: [], restarts: [] }
  const session = { name: 's0', plans: new Map(ids.map((id) => [id, { id }])), client, clients: [] }
  // A real session opens sockets. A check of a run without events only reads these fields.
  const chaosSession = session as unknown as ChaosSession
  const reasons = new Map(
    ids.slice(0, excusedMessages).map((id) => [id, 'accepted and lost'] as const),
  )
  const excused = new Map<ChaosSession, ReadonlyMap<string, Excuse>>([[chaosSession, reasons]])
  const run = { sessions: [chaosSession], logs: new Map(), lost: [], excused, journal: [] }
  return checkRun(run).map(({ rule }) => rule)
}

test('a run in which losses explain more than three quarters of the messages fails', () => {
  expect(rulesOf(3)).not.toContain('too much excused')
  expect(rulesOf(4)).toContain('too much excused')
})
