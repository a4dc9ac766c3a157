import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, ToolCallId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import { newestTurn } from './follow-session.ts'

/** The time limit for storing a cancel. */
const PATIENCE_MS = 10_000

/**
 * Stores a request to stop one tool call in the session's log. `duplicate`: it was stopped before, or is over. Throws
 * `not-found` when the running turn has no such call, and when no turn runs.
 */
export async function storeCallCancel(
  bus: Bus,
  session: SessionId,
  callId: string,
  envelope: Envelope,
): Promise<{ readonly duplicate: boolean }> {
  const state = emptySession()
  const end = await bus.sessions.end(session)
  // Only the running turn can have open calls.
  const { cursor } = await newestTurn(bus, session, end)
  for (const entry of await bus.sessions.read(session, cursor.seq, { through: end.seq })) {
    applyEntry(state, entry)
  }
  const id = callId as ToolCallId
  const call = state.calls.get(id)
  if (call === undefined) {
    const message = `callId: no turn runs that has the call "${callId}"`
    throw new BusError('not-found', message, { field: 'callId' })
  }
  const { result, settled, cancelledAt } = call
  if ((result ?? settled ?? cancelledAt) !== undefined) return { duplicate: true }
  const fact = { type: 'call-cancel-requested' as const, call: id }
  const options = { envelope, messageId: `cancel:${callId}`, patienceMs: PATIENCE_MS }
  return bus.sessions.append(session, { kind: 'control', fact }, options)
}
