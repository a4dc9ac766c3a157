import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The record if the session is there for this principal. Throws `not-found`, whatever the reason is. */
export function ownRecord(
  session: SessionId,
  record: SessionRecord | undefined,
  principal: string,
): SessionRecord {
  if (record === undefined || record.state === 'deleted' || record.owner !== principal) {
    throw noSession(session)
  }
  return record
}

export function noSession(session: SessionId): BusError {
  return new BusError('not-found', `there is no session "${session}"`, { field: 'session' })
}
