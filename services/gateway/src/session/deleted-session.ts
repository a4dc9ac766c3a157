import type { SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The error for the use of a deleted session. `field`: the request field with its id. */
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
