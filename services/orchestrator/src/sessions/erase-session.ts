import type { Bus } from '@mcp-host/bus'
import type { Envelope, LogEntry, SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { applyEntry } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import { openState } from '../turn/open-state.ts'
import { newRecord } from './new-record.ts'
import { purgeSession } from './purge-session.ts'
import { updateRecord } from './update-record.ts'

/** The time for which a deleted session stays marked. Its writers are locked out, and late entries are purged. */
const MARK_TTL_MS = 24 * 3_600_000
/** The time limit for the end of the session's turns. */
const END_LIMIT_MS = 5_000

export interface EraseDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly endLimitMs?: number
}

export interface Erasure {
  readonly envelope: Envelope
  /** Whether the session expired for lack of activity. */
  readonly isExpired?: boolean
  /** Returns the record if the session is to be erased. Called again when the record has changed. */
  readonly check: (record: SessionRecord | undefined) => SessionRecord | undefined
}

/**
 * Ends the turns of a session and erases it. Only the mark of its deletion stays, for a day. If the process ends after
 * setting the mark, the janitor completes the erasure. Returns whether the session was to be erased.
 */
export async function eraseSession(
  deps: EraseDeps,
  session: SessionId,
  { envelope, isExpired = false, check }: Erasure,
): Promise<boolean> {
  const { bus } = deps
  const mark = (given: SessionRecord | undefined): SessionRecord | undefined => {
    const record = check(given)
    if (record === undefined) return undefined
    const { metadata: _, systemPrompt: _prompt, ...kept } = record
    return { ...kept, title: '', state: 'deleted', ...(isExpired ? { isExpired } : {}) }
  }
  const marked = await updateRecord(bus.directory, session, mark, { ttlMs: MARK_TTL_MS })
  if (marked === undefined) return false
  if (!(await bus.sessions.isDeleted(session))) {
    await bus.sessions.append(
      session,
      { kind: 'control', fact: { type: 'session-deleted' } },
      { envelope, messageId: crypto.randomUUID() },
    )
  }
  await finishErasure(deps, session, envelope)
  return true
}

/** Ends the turns of a session that is marked as deleted, and erases its log. Safe to repeat. */
async function finishErasure(
  deps: EraseDeps,
  session: SessionId,
  envelope: Envelope,
): Promise<void> {
  const { bus, logger } = deps
  const fields = { ...requestFields(envelope), component: 'sessions', sessionId: session }
  const through = await bus.sessions.lastSequence(session)
  if (!(await turnsEnded(deps, session, through))) {
    const message =
      'deleted a session whose turn did not end in time; what it writes is purged later'
    logger.warn({ ...fields, action: 'delete' }, message)
  }
  await purgeSession(bus, session)
  logger.info({ ...fields, action: 'delete' }, 'deleted a session')
}

/** Erases a session whose log has its deletion. The process that stored the deletion may have ended since. */
export async function eraseDeleted(
  deps: EraseDeps,
  { session, envelope }: Pick<LogEntry, 'session' | 'envelope'>,
): Promise<void> {
  const made = newRecord(session, envelope.principal, deps.bus.clock.now())
  const check = (record = made): SessionRecord | undefined =>
    record.state === 'deleted' ? undefined : record
  if (await eraseSession(deps, session, { envelope, check })) return
  // An earlier process may have set the mark and ended before it erased the log.
  if ((await deps.bus.sessions.lastSequence(session)) > 0) {
    await finishErasure(deps, session, envelope)
  }
}

/** Waits until no turn is unfinished. Returns whether that happened in time. */
async function turnsEnded(
  { bus, endLimitMs = END_LIMIT_MS }: EraseDeps,
  session: SessionId,
  through: number,
): Promise<boolean> {
  const state = await openState(bus, session, { through })
  const isOver = (): boolean => state.unfinished.size === 0
  if (isOver()) return true
  const signal = AbortSignal.timeout(endLimitMs)
  const options = { after: state.seq, deltas: false, signal }
  try {
    for await (const item of bus.sessions.follow(session, options)) {
      if (item.type === 'entry') applyEntry(state, item.entry)
      if (isOver()) return true
    }
  } catch (error) {
    // Another process has erased the log.
    if (BusError.from(error).code === 'not-found') return true
    throw error
  }
  return false
}
