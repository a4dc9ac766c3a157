import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, deleteSession } from '@mcp-host/contracts'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { isChatIdOf } from './chat-id.ts'
import { ownerOf } from './check-session.ts'

/** The time limit for storing the deletion. */
const PATIENCE_MS = 10_000
/**
 * The time limit for erasing, a little longer than the end of a turn takes. After it, an orchestrator still erases the
 * session.
 */
const ERASED_MS = 6_000

/**
 * Deletes a session for good, after `checkSession`. Once the deletion is in its log, no process works in the session;
 * an orchestrator erases it, possibly later. A session without messages may have files, and is deleted in the same way.
 * Throws `not-found`.
 */
export async function eraseSession(
  bus: Bus,
  session: SessionId,
  envelope: Envelope,
  sign: SignSession,
): Promise<void> {
  const isMade = isChatIdOf({ id: envelope.principal }, session, sign)
  if (!isMade && (await ownerOf(bus, session)) === undefined) {
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
    // Another orchestrator has erased it, or one will erase it later.
    if (failure.code !== 'not-found' && !failure.retryable) throw failure
  }
}
