import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, deleteSession } from '@mcp-host/contracts'
import type { SignSession } from '../mcp/core/signed-id.ts'
import { isSigned } from '../mcp/core/signed-id.ts'
import { deletedSession, findDeleted } from './deleted-session.ts'

/** The time limit for storing the deletion. */
const PATIENCE_MS = 10_000
/** The time limit for erasing, which an orchestrator does in any case: a little longer than the end of a turn takes. */
const ERASED_MS = 6_000

/**
 * Deletes a session for good. Once that is in its log, no process works in it, and an orchestrator erases it, possibly
 * later. An issued session without a message may have files, and is deleted in the same way. Throws `not-found`.
 */
export async function eraseSession(
  bus: Bus,
  session: SessionId,
  envelope: Envelope,
  sign: SignSession,
): Promise<void> {
  const deleted = await findDeleted(bus, session)
  if (deleted !== undefined) throw deletedSession(deleted, 'id')
  const owner = await ownerOf(bus, session)
  const isEmpty = owner === undefined && isSigned(session, sign)
  if (owner !== envelope.principal && !isEmpty) {
    throw new BusError('not-found', `there is no session "${session}"`, { field: 'id' })
  }
  await bus.sessions.append(
    session,
    { kind: 'control', fact: { type: 'session-deleted' } },
    { envelope, messageId: crypto.randomUUID(), patienceMs: PATIENCE_MS },
  )
  try {
    const options = { envelope: childEnvelope(envelope), timeoutMs: ERASED_MS }
    await bus.call(deleteSession, {}, { session }, options)
  } catch (error) {
    const failure = BusError.from(error)
    // Another orchestrator was faster, or erases it later.
    if (failure.code !== 'not-found' && !failure.retryable) throw failure
  }
}

/** The owner of a session; `undefined` when there is none. Its record is written a little after its first message. */
async function ownerOf(bus: Bus, session: SessionId): Promise<string | undefined> {
  const known = await bus.directory.get(session)
  if (known !== undefined) return known.record.owner
  const [first] = await bus.sessions.read(session, 0, { limit: 1 })
  return first?.envelope.principal
}
