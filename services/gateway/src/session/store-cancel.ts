import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId } from '@mcp-host/contracts'

/** The time limit for storing a cancel. */
const PATIENCE_MS = 10_000

/** Stores a request to end the turn of a message in the session's log. A repeated request has no effect. */
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
