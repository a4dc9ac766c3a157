import type { Bus } from '@mcp-host/bus'
import { wasLost } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { applyEntry, emptySession, fromSnapshot } from '@mcp-host/session-state'

/** Shorter logs are folded from their beginning, which is as fast as reading a snapshot. */
const SHORT_LOG = 128

const text = new TextDecoder()

/**
 * The state of a session's log: its snapshot, if it is long, and all later entries. `through`: the state includes
 * everything up to that sequence. `isWhole`: with the whole history, however long that takes.
 */
export async function openState(
  { sessions, snapshots }: Pick<Bus, 'sessions' | 'snapshots'>,
  session: SessionId,
  { through, isWhole = false }: { readonly through?: number; readonly isWhole?: boolean } = {},
): Promise<SessionState> {
  const options = through === undefined ? {} : { through }
  let state = emptySession()
  if (!isWhole) {
    const first = await sessions.read(session, 0, { ...options, limit: SHORT_LOG })
    if (first.length === SHORT_LOG) {
      const bytes = await snapshots.get(session)
      const saved = bytes && fromSnapshot(text.decode(bytes))
      // A snapshot that includes lost entries does not belong to this log.
      if (saved !== undefined && !wasLost(sessions.lostRanges, saved.seq)) state = saved
    }
    // With a snapshot, these entries are already in the state.
    for (const entry of first) applyEntry(state, entry)
    if (first.length < SHORT_LOG) return state
  }
  for (const entry of await sessions.read(session, state.seq, options)) applyEntry(state, entry)
  return state
}
