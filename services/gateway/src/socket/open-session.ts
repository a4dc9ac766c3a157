import type { Bus } from '@mcp-host/bus'
import type { Cursor } from '@mcp-host/contracts'
import { BusError, cursorAfter, newSessionId, parseCursor, SessionId } from '@mcp-host/contracts'
import { z } from 'zod'
import { joinCursor } from '../session/follow-session.ts'

const Query = z.object({
  sessionId: SessionId.optional(),
  after: z
    .string()
    .transform(parseCursor)
    .refine((cursor) => cursor !== undefined, 'must be the id of an event')
    .optional(),
})

/** The session a client asks for, and where its stream begins. Throws `invalid` for a bad query. */
export async function openSession(
  bus: Bus,
  query: unknown,
): Promise<{ sessionId: SessionId; cursor: Cursor; isReconnect: boolean }> {
  const parsed = Query.safeParse(query)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'query')
  const { sessionId, after } = parsed.data
  if (sessionId === undefined) {
    if (after !== undefined) {
      throw new BusError('invalid', 'query: after needs a sessionId', { field: 'sessionId' })
    }
    return { sessionId: newSessionId(), cursor: cursorAfter(0), isReconnect: false }
  }
  if (after !== undefined && after.seq > (await bus.sessions.lastSequence(sessionId))) {
    const message = 'query: after is not an event of this session; connect without it'
    throw new BusError('invalid', message, { field: 'after' })
  }
  const cursor = after ?? (await joinCursor(bus, sessionId))
  return { sessionId, cursor, isReconnect: after !== undefined }
}
