import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** The record if the session is there for this principal. Throws `not-found`, whatever the reason is. */
export function ownRecord(
  session: SessionId,
  record: SessionRecord | undefined,
  principal: string,
): SessionRecord {
  if (record?.isExpired === true && record.owner === principal) throw expired(session)
  if (record === undefined || record.state === 'deleted' || record.owner !== principal) {
    throw noSession(session)
  }
  return record
}

export function noSession(session: SessionId): BusError {
  return new BusError('not-found', `there is no session "${session}"`, { field: 'session' })
}

function expired(session: SessionId): BusError {
  const message = `the session "${session}" has expired: nothing happened in it for too long; begin another`
  return new BusError('not-found', message, { field: 'session', reason: 'expired' })
}
