import type { Bus } from '@mcp-host/bus'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { BusError, isAdmin } from '@mcp-host/contracts'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { isChatIdOf } from './chat-id.ts'
import { deletedSession } from './deleted-session.ts'

type SessionBus = Pick<Bus, 'directory' | 'sessions'>

export interface CheckSessionDeps {
  readonly bus: SessionBus
  readonly signSession: SignSession
}

/**
 * Throws `not-found` for a session that was deleted or belongs to another principal, so that clients cannot tell which
 * sessions exist. `field`: the request field with the id.
 */
export async function checkSession(
  deps: CheckSessionDeps,
  session: SessionId,
  principal: Principal,
  field = 'id',
): Promise<void> {
  await checkOwner(deps, session, principal, field)
  await checkDeleted(deps.bus, session, field)
}

/** Throws `not-found` for a deleted session. */
export async function checkDeleted(
  bus: SessionBus,
  session: SessionId,
  field: string,
): Promise<void> {
  // The log is read too, since an orchestrator marks the record only later.
  const [known, isDeleted] = await Promise.all([
    bus.directory.get(session),
    bus.sessions.isDeleted(session),
  ])
  if (known?.record.state === 'deleted') throw deletedSession(known.record, field)
  if (isDeleted) throw deletedSession({}, field)
}

/**
 * Like `checkSession`, but accepts deleted sessions. Returns the principal whose session it is for good; `undefined`
 * while it has neither a record nor a message: until then only the principal for whom its id was made may use it.
 */
export async function checkOwner(
  { bus, signSession }: CheckSessionDeps,
  session: SessionId,
  principal: Principal,
  field: string,
): Promise<string | undefined> {
  if (isAnybody(principal)) return principal.id
  const owner = await ownerOf(bus, session)
  const mayUse =
    owner === undefined
      ? isChatIdOf(principal, session, signSession)
      : owner === principal.id || isAdmin(principal)
  if (mayUse) return owner
  throw new BusError('not-found', `there is no session "${session}"`, { field })
}

/** Whether clients need no credential: each is the local admin, and may make ids of its own. */
export function isAnybody(principal: Principal): boolean {
  return principal.method === 'none' && isAdmin(principal)
}

/** The owner of a session; `undefined` when there is none. Its record is written a little after its first message. */
export async function ownerOf(bus: SessionBus, session: SessionId): Promise<string | undefined> {
  const known = await bus.directory.get(session)
  if (known !== undefined) return known.record.owner
  const [first] = await bus.sessions.read(session, 0, { limit: 1 })
  return first?.envelope.principal
}
