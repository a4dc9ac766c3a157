import type { Bus } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'

/** Removes all there is of a session but its record: files, large results, snapshot, log. Safe to repeat. */
export async function purgeSession(
  { sessions, snapshots, blobs }: Pick<Bus, 'sessions' | 'snapshots' | 'blobs'>,
  session: SessionId,
): Promise<void> {
  // The log last: while there is one, what could not be removed is found again.
  await blobs.removeAll(session)
  await snapshots.remove(session)
  await sessions.purge(session)
}
