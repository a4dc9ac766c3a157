import type { LogEntry, LostRange } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { JournalEntry } from '@mcp-host/testkit'
import { checkJournal } from './check/check-journal.ts'
import { checkSession } from './check/check-session.ts'
import { checkTabs } from './check/check-tabs.ts'
import type { Evidence, Excuse } from './check/excuses.ts'
import { checkReported, checkTold, isIn } from './check/excuses.ts'
import { logStories } from './check/log-stories.ts'
import type { CallStory } from './check/turn-story.ts'
import type { Violation } from './check/violation.ts'
import type { Client } from './client.ts'
import { TARGETS } from './faults.ts'
import type { Fleet } from './fleet.ts'
import type { ChaosSession } from './session.ts'

/** The messages of each session that a reported loss explains. */
export type Excused = ReadonlyMap<ChaosSession, ReadonlyMap<string, Excuse>>

export interface Run {
  readonly sessions: readonly ChaosSession[]
  readonly logs: ReadonlyMap<ChaosSession, readonly LogEntry[]>
  /** What the host reported as lost. */
  readonly lost: readonly LostRange[]
  readonly excused: Excused
  readonly journal: readonly JournalEntry[]
}

/** Losses may explain so many of all messages at most: a run in which hardly any is held against the log shows nothing. */
const MOST_EXCUSED = 0.75

export function excuseSessions(
  sessions: readonly ChaosSession[],
  logs: Run['logs'],
  lost: readonly LostRange[],
): Excused {
  return new Map(sessions.map((each) => [each, each.excuses(logs.get(each) ?? [], lost)]))
}

/** What was found while it ran. */
export function found(
  fleet: Pick<Fleet, 'replicas'>,
  sessions: readonly ChaosSession[],
  excused?: Excused,
): Violation[] {
  return [
    ...TARGETS.flatMap((target) => fleet.replicas(target).flatMap(({ violations }) => violations)),
    ...sessions.flatMap((session) => {
      const { name, clients } = session
      const seen = clients.flatMap(({ checks }) => checks.flatMap(({ violations }) => violations))
      const refused = clients.flatMap(({ faults }) =>
        faults.map((fault) => ({ rule: 'refused', where: name, ...fault })),
      )
      const messages = excused?.get(session)
      return [...seen, ...refused].filter(({ message = '' }) => messages?.has(message) !== true)
    }),
  ]
}

/** Holds what all sessions were sent against their logs and the journal, once all is quiet. */
export function checkRun({ sessions, logs, lost, excused, journal }: Run): Violation[] {
  const calls = (isExcused: boolean): CallStory[] =>
    sessions.flatMap((session) =>
      [...logStories(logs.get(session) ?? []).values()]
        .filter(({ id }) => (excused.get(session)?.has(id) ?? false) === isExcused)
        .flatMap((story) => [...story.calls.values()]),
    )
  return [
    ...sessions.flatMap((session) => {
      const { name, plans, client, clients, tab } = session
      const log = logs.get(session) ?? []
      const record = { name, plans, accepted: client.accepted, streams: client.checks, log }
      return [
        ...checkSession({ ...record, excused: excused.get(session) ?? new Map() }),
        ...(tab === undefined ? [] : checkTabs(name, ...session.comparable(client, tab))),
        ...clients.flatMap((each) => checkLosses(name, { lost, log }, each)),
      ]
    }),
    ...checkJournal(journal, calls(false)),
    // What is done anew because its result was lost runs twice.
    ...checkJournal(journal, calls(true)).filter(({ rule }) => rule !== 'tool run twice'),
    ...checkExcused(sessions, excused),
  ]
}

/** Holds that a client began anew when it had to, and only then. */
function checkLosses(
  name: string,
  { lost, log }: Pick<Evidence, 'lost' | 'log'>,
  { received, restarts }: Client,
): Violation[] {
  const seqOf = (id: string): number => parseCursor(id)?.seq ?? 0
  const seqs = received.map(({ event }) => seqOf(event.id))
  const starts = [0, ...restarts.map(({ index }) => index)]
  const streams = starts.map((start, number) => seqs.slice(start, starts[number + 1]))
  return [
    ...checkReported(name, { lost, log }, seqs),
    ...checkTold(name, lost, streams),
    ...restarts
      .filter(({ lost: id }) => !lost.some((range) => isIn(range, seqOf(id))))
      .map(({ lost: id }) => ({ rule: 'refused', where: name, detail: `after=${id} is not lost` })),
  ]
}

function checkExcused(sessions: readonly ChaosSession[], excused: Excused): Violation[] {
  const said = sessions.reduce((sum, { plans }) => sum + plans.size, 0)
  const count = [...excused.values()].reduce((sum, messages) => sum + messages.size, 0)
  if (count <= said * MOST_EXCUSED) return []
  const detail = `losses explain ${count} of ${said} messages: too few are left to be checked`
  return [{ rule: 'too much excused', where: 'run', detail }]
}
