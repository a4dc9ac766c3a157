import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId } from '@mcp-host/contracts'

/** The time limit for storing a cancel. */
const PATIENCE_MS = 10_000

/** Puts it into the session's log that the turn of a message is to end. The same again is one. */
export async function storeCancel(
  bus: Bus,
  session: SessionId,
  messageId: string,
  envelope: Envelope,
): Promise<{ seq: number; duplicate: boolean }> {
  const fact = { type: 'cancel-requested' as const, messageId }
  const options = { envelope, messageId: `cancel:${messageId}`, patienceMs: PATIENCE_MS }
  return await bus.sessions.append(session, { kind: 'control', fact }, options)
}
