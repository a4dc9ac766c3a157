import type { Bus } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'

/** Removes all data of a session except its record: files, large results, snapshot, log. Safe to repeat. */
export async function purgeSession(
  { sessions, snapshots, blobs }: Pick<Bus, 'sessions' | 'snapshots' | 'blobs'>,
  session: SessionId,
): Promise<void> {
  // The log goes last: while it exists, a repetition finds the data that could not be removed.
  await blobs.removeAll(session)
  await snapshots.remove(session)
  await sessions.purge(session)
}
