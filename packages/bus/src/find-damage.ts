import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import type { Bus } from './bus.ts'

/** A session whose log misses entries. */
export interface DamagedSession {
  readonly session: SessionId
  readonly title: string
  /** The least number of entries that its log had, and the number that can be read. */
  readonly had: number
  readonly has: number
}

/**
 * The sessions whose logs have fewer entries than their records say. nats-server counts entries without reading them,
 * so only logs with too low a count are read, or all logs when the counts are unreliable.
 */
export async function findDamage(
  { directory, sessions }: Pick<Bus, 'directory' | 'sessions'>,
  records: Iterable<SessionRecord>,
): Promise<DamagedSession[]> {
  // Records are read before the counts: a log may have more entries than its record says, but never fewer.
  const known = [...records]
  const { counts, isReliable } = await sessions.counts()
  const damaged: DamagedSession[] = []
  for (const { id, state, title, entries: had = 0 } of known) {
    if (state === 'deleted' || had === 0) continue
    if (isReliable && (counts.get(id) ?? 0) >= had) continue
    const has = (await sessions.read(id, 0)).length
    if (has >= had) continue
    // The session may have been deleted meanwhile.
    const current = await directory.get(id)
    if (current?.record.state === 'active') damaged.push({ session: id, title, had, has })
  }
  return damaged
}
