import type { Bus } from '@mcp-host/bus'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { BusError, isAdmin } from '@mcp-host/contracts'
import { deletedSession } from './deleted-session.ts'

type SessionBus = Pick<Bus, 'directory' | 'sessions'>

/**
 * Throws `not-found` for a session that was deleted or belongs to another principal, so that clients cannot tell which
 * sessions exist. A session without a message belongs to nobody; its id is a secret. `field`: the request field with
 * the id.
 */
export async function checkSession(
  bus: SessionBus,
  session: SessionId,
  principal: Principal,
  field = 'id',
): Promise<void> {
  await checkOwner(bus, session, principal, field)
  // The log is read too, since an orchestrator marks the record only later.
  const [known, isDeleted] = await Promise.all([
    bus.directory.get(session),
    bus.sessions.isDeleted(session),
  ])
  if (known?.record.state === 'deleted') throw deletedSession(known.record, field)
  if (isDeleted) throw deletedSession({}, field)
}

/** Like `checkSession`, but accepts deleted sessions. */
export async function checkOwner(
  bus: SessionBus,
  session: SessionId,
  principal: Principal,
  field: string,
): Promise<void> {
  if (isAdmin(principal)) return
  const owner = await ownerOf(bus, session)
  if (owner === undefined || owner === principal.id) return
  throw new BusError('not-found', `there is no session "${session}"`, { field })
}

/** The owner of a session; `undefined` when there is none. Its record is written a little after its first message. */
export async function ownerOf(bus: SessionBus, session: SessionId): Promise<string | undefined> {
  const known = await bus.directory.get(session)
  if (known !== undefined) return known.record.owner
  const [first] = await bus.sessions.read(session, 0, { limit: 1 })
  return first?.envelope.principal
}
