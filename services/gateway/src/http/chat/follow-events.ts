import { wasLost } from '@mcp-host/bus'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { BusError, formatCursor } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults } from '../../edge/api.ts'
import type { SseEvent } from '../../projection/sse-event.ts'
import { parseFrameId } from '../../projection/sse.ts'
import { deletedSession } from '../../session/deleted-session.ts'
import { SessionAccess } from '../../session/session-access.ts'
import { newestTurn } from '../../session/follow-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { ChatDeps } from './chat-deps.ts'
import { sendEvents } from './send-events.ts'
import { streamAnswer, streamSession } from './stream-session.ts'

/** The id of an event, as the place in the session that it stands for. */
const EventId = z
  .string()
  .transform((id, context) => {
    const place = parseFrameId(id)
    if (place !== undefined) return place
    context.addIssue({ code: 'custom', message: 'must be the id of an event' })
    return z.NEVER
  })
  .optional()

export const followQuery = z.object({ after: EventId.describe('Id of the last event you have.') })
export const followHeaders = z.looseObject({
  'last-event-id': EventId.describe('As `after`, which it wins over; browsers send it.'),
})

interface FollowRequest {
  readonly query: z.infer<typeof followQuery>
  readonly headers: z.infer<typeof followHeaders>
  readonly principal: Principal
  readonly shown?: (event: SseEvent) => SseEvent
}

export function addFollowEvents(api: Api, deps: ChatDeps): void {
  api.get(
    '/session/:id/events',
    {
      // A HEAD request would open the stream.
      exposeHeadRoute: false,
      schema: {
        tags: ['chat'],
        operationId: 'followSession',
        summary: 'Follow a session',
        description:
          'Goes on until you leave; made for `EventSource`. Without an id it begins with the running turn, or with what is new.',
        params: SessionParams,
        querystring: followQuery,
        headers: followHeaders,
        response: { ...streamAnswer, ...faults(400, 404, 429) },
      },
    },
    (request, reply) => {
      deps.limits.socket(request.principal, reply.raw)
      return serveSessionEvents(deps, reply, request.params.id, request)
    },
  )
}

/** Streams the events of a session from the place that the client names. Throws `not-found`, `invalid`. */
export async function serveSessionEvents(
  deps: ChatDeps,
  reply: FastifyReply,
  id: SessionId,
  { query, headers, principal, shown }: FollowRequest,
): Promise<void> {
  const { bus } = deps
  const place = headers['last-event-id'] ?? query.after
  const access = new SessionAccess(deps, id, principal, 'id')
  using held = new DisposableStack()
  const open = async () => {
    // Before the check: an owner who begins after it is in the log that is followed.
    const end = held.use(await bus.sessions.listen(id))
    await access.check()
    // For a session that is being erased, the stream reports the deletion and ends.
    const known = await bus.directory.get(id)
    if (known?.record.state === 'deleted') throw deletedSession(known.record, 'id')
    const isLost = place !== undefined && wasLost(end.lost ?? [], place.cursor.seq)
    const isBeyond = place !== undefined && (isLost || place.cursor.seq > end.seq)
    if (!isBeyond) return newestTurn(bus, id, end)
    const field = headers['last-event-id'] === undefined ? 'after' : 'Last-Event-ID'
    const cause = isLost ? 'was lost when data was damaged' : 'is not an event of this session'
    throw new BusError('invalid', `${field} ${cause}; come back without it`, { field })
  }
  const opened = await open().catch((error: unknown) => BusError.from(error))
  if (opened instanceof BusError) {
    if (!opened.retryable) throw opened
    // Browsers come back after a stream that broke off, but not after an error status.
    return sendEvents(deps, reply, () => failing(opened))
  }
  const { cursor, before } = opened
  const start = place ?? { cursor, skip: 0 }
  await streamSession(deps, reply, id, start.cursor, {
    envelope: reply.request.envelope,
    access,
    queueAfter: before,
    skip: start.skip,
    ...(shown && { shown }),
    ...(place === undefined ? { place: formatCursor(cursor) } : {}),
  })
}

function failing(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
}
