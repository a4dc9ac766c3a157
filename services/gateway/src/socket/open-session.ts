import type { Bus } from '@mcp-host/bus'
import { wasLost } from '@mcp-host/bus'
import type { Cursor, Principal } from '@mcp-host/contracts'
import { BusError, cursorAfter, parseCursor, SessionId } from '@mcp-host/contracts'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import { newChatId } from '../session/chat-id.ts'
import { SessionAccess } from '../session/session-access.ts'
import { deletedSession } from '../session/deleted-session.ts'
import { newestTurn } from '../session/follow-session.ts'

const Query = z.object({
  sessionId: SessionId.optional(),
  after: z
    .string()
    .transform(parseCursor)
    .refine((cursor) => cursor !== undefined, 'must be the id of an event')
    .optional(),
})

/** A session that a client has opened. */
export interface OpenedSession {
  readonly sessionId: SessionId
  readonly access: SessionAccess
  /** The start of the stream. */
  readonly cursor: Cursor
  /** Waiting messages are found in the log after this sequence. */
  readonly queueAfter: number
  readonly isReconnect: boolean
  /** Keeps the subscription until the session is followed. */
  readonly listening?: Disposable
}

/** Opens the session that a client requests. Throws `invalid` for a bad query, `not-found` when it was deleted. */
export async function openSession(
  deps: { readonly bus: Bus; readonly signSession: SignSession },
  query: unknown,
  principal: Principal,
): Promise<OpenedSession> {
  const { bus, signSession } = deps
  const accessTo = (id: SessionId) => new SessionAccess(deps, id, principal, 'sessionId')
  const parsed = Query.safeParse(query)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'query')
  const { sessionId, after } = parsed.data
  if (sessionId === undefined) {
    if (after !== undefined) {
      throw new BusError('invalid', 'query: after needs a sessionId', { field: 'sessionId' })
    }
    const made = newChatId(signSession, principal)
    return {
      sessionId: made,
      access: accessTo(made),
      cursor: cursorAfter(0),
      queueAfter: 0,
      isReconnect: false,
    }
  }
  const access = accessTo(sessionId)
  using held = new DisposableStack()
  // Before the check: an owner who begins after it is in the log that is followed.
  const end = held.use(await bus.sessions.listen(sessionId))
  await access.check()
  const isLost = after !== undefined && wasLost(end.lost ?? [], after.seq)
  const isBeyond = after !== undefined && (isLost || after.seq > end.seq)
  // The log of a deleted session is empty, so a place within the log shows that the session exists. This saves a read
  // when thousands of clients reconnect at once.
  const isDoubtful = after === undefined || isBeyond
  const known = isDoubtful ? await bus.directory.get(sessionId) : undefined
  if (known?.record.state === 'deleted') throw deletedSession(known.record, 'sessionId')
  if (isBeyond) {
    const cause = isLost ? 'was lost when data was damaged' : 'is not an event of this session'
    const message = `query: after ${cause}; connect without it`
    throw new BusError('invalid', message, { field: 'after' })
  }
  const { cursor, before } = await newestTurn(bus, sessionId, end)
  return {
    sessionId,
    access,
    cursor: after ?? cursor,
    queueAfter: before,
    isReconnect: after !== undefined,
    listening: held.move(),
  }
}

/** The session that a query names, even if it cannot be opened. */
export function askedSession(query: unknown): SessionId | undefined {
  return Query.pick({ sessionId: true }).safeParse(query).data?.sessionId
}
