import type { Envelope, SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError, isAdmin } from '@mcp-host/contracts'

/** The caller of a request about a session, as its envelope has it. */
export type SessionUser = Pick<Envelope, 'principal' | 'roles' | 'scopes'>

/** The record if the principal may use the session. Throws `not-found` for every other reason. */
export function ownRecord(
  session: SessionId,
  record: SessionRecord | undefined,
  caller: SessionUser,
): SessionRecord {
  const isOpen = record !== undefined && mayUse(caller, record.owner)
  if (isOpen && record.isExpired === true) throw expired(session)
  if (!isOpen || record.state === 'deleted') throw noSession(session)
  return record
}

/** Whether a caller may use a session: its owner and admins may. */
export function mayUse({ principal, roles, scopes }: SessionUser, owner: string): boolean {
  return owner === principal || isAdmin({ roles, scopes })
}

export function noSession(session: SessionId): BusError {
  return new BusError('not-found', `there is no session "${session}"`, { field: 'session' })
}

function expired(session: SessionId): BusError {
  const message = `the session "${session}" has expired: nothing happened in it for too long; begin another`
  return new BusError('not-found', message, { field: 'session', reason: 'expired' })
}
