import type { Envelope, SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError, isAdmin } from '@mcp-host/contracts'

/** The record if the principal may use the session. Throws `not-found` for every other reason. */
export function ownRecord(
  session: SessionId,
  record: SessionRecord | undefined,
  caller: Pick<Envelope, 'principal' | 'roles'>,
): SessionRecord {
  const isOpen = record !== undefined && mayUse(caller, record.owner)
  if (isOpen && record.isExpired === true) throw expired(session)
  if (!isOpen || record.state === 'deleted') throw noSession(session)
  return record
}

/** Whether a caller may use a session: its owner and admins may. */
export function mayUse(
  { principal, roles = [] }: Pick<Envelope, 'principal' | 'roles'>,
  owner: string,
): boolean {
  return owner === principal || isAdmin({ roles })
}

export function noSession(session: SessionId): BusError {
  return new BusError('not-found', `there is no session "${session}"`, { field: 'session' })
}

function expired(session: SessionId): BusError {
  const message = `the session "${session}" has expired: nothing happened in it for too long; begin another`
  return new BusError('not-found', message, { field: 'session', reason: 'expired' })
}
