import type { Bus } from '@mcp-host/bus'
import type { Cursor } from '@mcp-host/contracts'
import { BusError, cursorAfter, newSessionId, parseCursor, SessionId } from '@mcp-host/contracts'
import { z } from 'zod'
import { newestTurn } from '../session/follow-session.ts'

const Query = z.object({
  sessionId: SessionId.optional(),
  after: z
    .string()
    .transform(parseCursor)
    .refine((cursor) => cursor !== undefined, 'must be the id of an event')
    .optional(),
})

/** The session a client asks for. */
export interface OpenedSession {
  readonly sessionId: SessionId
  /** Where its stream begins. */
  readonly cursor: Cursor
  /** The log after this sequence tells which messages wait. */
  readonly queueAfter: number
  readonly isReconnect: boolean
}

/** Opens the session a client asks for. Throws `invalid` for a bad query, `not-found` when it was deleted. */
export async function openSession(bus: Bus, query: unknown): Promise<OpenedSession> {
  const parsed = Query.safeParse(query)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'query')
  const { sessionId, after } = parsed.data
  if (sessionId === undefined) {
    if (after !== undefined) {
      throw new BusError('invalid', 'query: after needs a sessionId', { field: 'sessionId' })
    }
    const cursor = cursorAfter(0)
    return { sessionId: newSessionId(), cursor, queueAfter: 0, isReconnect: false }
  }
  const isDeleted = async (): Promise<boolean> =>
    (await bus.directory.get(sessionId))?.record.state === 'deleted'
  const [isGone, newest] = await Promise.all([
    after === undefined && isDeleted(),
    newestTurn(bus, sessionId),
  ])
  // Nothing is left of the log of a deleted session: whose place stands before its last turn's end needs no
  // other look. Thousands may come back at once.
  const isAhead = after !== undefined && after.seq > newest.lastSeq
  if (isGone || (isAhead && (await isDeleted()))) {
    throw new BusError('not-found', 'this session was deleted', { field: 'sessionId' })
  }
  if (isAhead && after.seq > (await bus.sessions.lastSequence(sessionId))) {
    const message = 'query: after is not an event of this session; connect without it'
    throw new BusError('invalid', message, { field: 'after' })
  }
  return {
    sessionId,
    cursor: after ?? newest.cursor,
    queueAfter: newest.before,
    isReconnect: after !== undefined,
  }
}
