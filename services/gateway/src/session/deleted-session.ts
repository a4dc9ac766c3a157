import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The record of a deleted session; `undefined` when it was not deleted. */
export async function findDeleted(
  { directory, sessions }: Pick<Bus, 'directory' | 'sessions'>,
  session: SessionId,
): Promise<Pick<SessionRecord, 'isExpired'> | undefined> {
  // The log has it first: an orchestrator marks the record later.
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
