import type { Bus } from '@mcp-host/bus'
import type { LogEntry, SessionId } from '@mcp-host/contracts'
import { mediaOf } from '@mcp-host/contracts'

/** How much of a log is held at a time. */
const BATCH = 500

/** Removes all there is of a session but its record: large results, snapshot, log. Safe to repeat. */
export async function purgeSession(
  { sessions, snapshots, blobs }: Pick<Bus, 'sessions' | 'snapshots' | 'blobs'>,
  session: SessionId,
): Promise<void> {
  // The log last: while there is one, what could not be removed is found again.
  for (let after = 0; ;) {
    const entries = await sessions.read(session, after, { limit: BATCH })
    for (const entry of entries) {
      for (const key of blobsOf(entry)) {
        // A tool may say what it likes.
        if (key.startsWith(`${session}.`)) await blobs.remove(key)
      }
    }
    after = entries.at(-1)?.seq ?? after
    if (entries.length < BATCH) break
  }
  await snapshots.remove(session)
  await sessions.purge(session)
}

function blobsOf({ kind, fact }: LogEntry): string[] {
  if (kind === 'input') return (fact.attachments ?? []).map(({ blob }) => blob.key)
  if (kind !== 'tool' || fact.type !== 'tool-finished') return []
  const media = fact.content.flatMap((block) => mediaOf(block)?.blob?.key ?? [])
  return fact.blob === undefined ? media : [...media, fact.blob.key]
}
