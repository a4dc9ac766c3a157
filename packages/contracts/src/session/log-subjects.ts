import type { SessionId } from '../ids.ts'
import { shardOf } from '../ids.ts'
import { fillSubject } from '../subject.ts'
import type { LogFact } from './log-entry.ts'
import { LOG_FACTS } from './log-entry.ts'

/** Every subject of every session's log. */
export const ALL_LOGS = 's.>'

/** The messages of users and the control facts of every session. */
export const ALL_INPUTS = 's.*.*.in.>'

/** A subject of no session, to check whether the stream can be written. */
export const LOG_PROBE = 's.probe'

/** The subject on which the broker repeats each stored entry. */
export const ALL_LOGS_LIVE = 'live.s.>'

export function factSubject(session: SessionId, kind: LogFact['kind']): string {
  return fillSubject(LOG_FACTS[kind].subject, { shard: shardOf(session), session })
}

/** Everything in one session's log. */
export function sessionLogSubjects(session: SessionId): string {
  return `${fillSubject('s.{shard}.{session}', { shard: shardOf(session), session })}.>`
}

/** One session's log as it is repeated live. */
export function liveLogSubjects(session: SessionId): string {
  return `live.${sessionLogSubjects(session)}`
}

/** The live entries and live text of a session in one subscription, since each subscription costs the broker. */
export function liveSubjects(session: SessionId): string {
  return liveLogSubjects(session).replace('live.s.', 'live.*.')
}

/** Covers `liveSubjects` of every session. */
export const ALL_LIVE = 'live.*.*.*.>'

/** The stored subject of an entry that is repeated live. */
export function storedSubject(live: string): string {
  return live.replace(/^live\./, '')
}
