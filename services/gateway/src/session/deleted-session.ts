import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** What is known of a session that was deleted; `undefined`: it was not. */
export async function findDeleted(
  { directory, sessions }: Pick<Bus, 'directory' | 'sessions'>,
  session: SessionId,
): Promise<Pick<SessionRecord, 'isExpired'> | undefined> {
  // The log says so first: its record is marked by an orchestrator, and there may be none.
  const [known, isDeleted] = await Promise.all([
    directory.get(session),
    sessions.isDeleted(session),
  ])
  if (known?.record.state === 'deleted') return known.record
  return isDeleted ? {} : undefined
}

/** Why a deleted session cannot be used. `field` is what named it. */
export function deletedSession(
  { isExpired = false }: Pick<SessionRecord, 'isExpired'>,
  field: string,
): BusError {
  return isExpired
    ? new BusError('not-found', 'this session has expired; begin another', {
        field,
        reason: 'expired',
      })
    : new BusError('not-found', 'this session was deleted', { field })
}
