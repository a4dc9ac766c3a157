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
 * The sessions that miss entries, by what their records say of their logs. Only logs of too few entries are read:
 * nats-server counts them without reading, and all of them are read when it says itself that its counts are wrong.
 */
export async function findDamage(
  { directory, sessions }: Pick<Bus, 'directory' | 'sessions'>,
  records: Iterable<SessionRecord>,
): Promise<DamagedSession[]> {
  // Taken first: a log may have more than its record says, and never less.
  const known = [...records]
  const { counts, isReliable } = await sessions.counts()
  const damaged: DamagedSession[] = []
  for (const { id, state, title, entries: had = 0 } of known) {
    if (state === 'deleted' || had === 0) continue
    if (isReliable && (counts.get(id) ?? 0) >= had) continue
    const has = (await sessions.read(id, 0)).length
    if (has >= had) continue
    // It may have been deleted meanwhile.
    const now = await directory.get(id)
    if (now?.record.state === 'active') damaged.push({ session: id, title, had, has })
  }
  return damaged
}
