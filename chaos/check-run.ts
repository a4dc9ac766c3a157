import type { LogEntry, LostRange } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { JournalEntry } from '@mcp-host/testkit'
import { checkJournal } from './check/check-journal.ts'
import { checkSession } from './check/check-session.ts'
import { checkTabs } from './check/check-tabs.ts'
import type { Evidence, Excuse } from './check/excuses.ts'
import { checkReported, checkRestartAfterLoss, isIn } from './check/excuses.ts'
import { turnsOfLog } from './check/turns-of-log.ts'
import type { ObservedCall } from './check/observed-turn.ts'
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
  /** The ranges that the host reported as lost. */
  readonly lost: readonly LostRange[]
  readonly excused: Excused
  readonly journal: readonly JournalEntry[]
}

/** The share of messages that losses may explain. Above it, too few messages are checked against the log. */
const MAX_EXCUSED = 0.75

export function excuseSessions(
  sessions: readonly ChaosSession[],
  logs: Run['logs'],
  lost: readonly LostRange[],
): Excused {
  return new Map(sessions.map((each) => [each, each.excuses(logs.get(each) ?? [], lost)]))
}

/** The violations that were found during the run. */
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

/** Checks the streams of all sessions against their logs and the journal, after all turns have ended. */
export function checkRun({ sessions, logs, lost, excused, journal }: Run): Violation[] {
  const calls = (isExcused: boolean): ObservedCall[] =>
    sessions.flatMap((session) =>
      [...turnsOfLog(logs.get(session) ?? []).values()]
        .filter(({ id }) => (excused.get(session)?.has(id) ?? false) === isExcused)
        .flatMap((turn) => [...turn.calls.values()]),
    )
  return [
    ...sessions.flatMap((session) => {
      const { name, plans, client, clients, tab } = session
      const log = logs.get(session) ?? []
      const record = { name, plans, accepted: client.accepted, streams: client.checks, log }
      return [
        ...checkSession({ ...record, excused: excused.get(session) ?? new Map() }),
        ...(tab === undefined ? [] : checkTabs(name, ...session.commonEvents(client, tab))),
        ...clients.flatMap((each) => checkLosses(name, { lost, log }, each)),
      ]
    }),
    ...checkJournal(journal, calls(false)),
    // A tool whose result was lost may run again.
    ...checkJournal(journal, calls(true)).filter(({ rule }) => rule !== 'tool run twice'),
    ...checkExcused(sessions, excused),
  ]
}

/** Checks that a client restarted its stream after a loss, and only then. */
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
    ...checkRestartAfterLoss(name, lost, streams),
    ...restarts
      .filter(({ lost: id }) => !lost.some((range) => isIn(range, seqOf(id))))
      .map(({ lost: id }) => ({ rule: 'refused', where: name, detail: `after=${id} is not lost` })),
  ]
}

function checkExcused(sessions: readonly ChaosSession[], excused: Excused): Violation[] {
  const said = sessions.reduce((sum, { plans }) => sum + plans.size, 0)
  const count = [...excused.values()].reduce((sum, messages) => sum + messages.size, 0)
  if (count <= said * MAX_EXCUSED) return []
  const detail = `losses explain ${count} of ${said} messages: too few are left to be checked`
  return [{ rule: 'too much excused', where: 'run', detail }]
}
