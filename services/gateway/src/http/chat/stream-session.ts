import type { FollowItem } from '@mcp-host/bus'
import type { Cursor, Envelope, SessionId } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { turnOf } from '../../projection/sse-turn.ts'
import { sseFrames } from '../../projection/sse.ts'
import { followSession } from '../../session/follow-session.ts'
import type { SessionAccess } from '../../session/session-access.ts'
import { QueueNotifier } from '../../session/queue-notifier.ts'
import { SseEvent } from '../../projection/sse-event.ts'
import type { ChatDeps } from './chat-deps.ts'
import type { Follow } from './send-events.ts'
import { sendEvents } from './send-events.ts'

/** The answer of a route that calls `streamSession`. */
export const streamAnswer = {
  200: {
    description: 'Each event has an `id`, its place in the session, and as `data` this.',
    content: { 'text/event-stream': { schema: SseEvent } },
  },
}

export interface StreamSessionOptions {
  readonly envelope: Envelope
  readonly access: SessionAccess
  /** Waiting messages are found in the log after this sequence. */
  readonly queueAfter: number
  /** Only the events about this message are sent. Default: all. */
  readonly messageId?: string
  /** The number of frames of the first event that the client has already. */
  readonly skip?: number
  /** Called at the first text. */
  readonly onText?: () => void
  /** The id of the event before the first one. */
  readonly place?: string
  /** What the client may see of an event. Default: all. */
  readonly shown?: (event: SseEvent) => SseEvent
}

/** Answers with the events of a session from a cursor on. */
export async function streamSession(
  deps: ChatDeps,
  reply: FastifyReply,
  session: SessionId,
  start: Cursor,
  options: StreamSessionOptions,
): Promise<void> {
  const { envelope, access, queueAfter, messageId, skip = 0, onText, place, shown } = options
  const frames: Follow = async function* (signal, aside) {
    using queue = new QueueNotifier((item) => {
      // Reports the messages before this one. Its turn may be over by then.
      const { waiting, current } = queue.view
      const isTold =
        messageId === undefined || (waiting.includes(messageId) && current !== messageId)
      if (isTold) for (const frame of sseFrames(item)) aside(frame)
    })
    const watch = { after: queueAfter, item: (item: FollowItem) => queue.item(item) }
    const follow = { envelope, access, signal, watch, withAnswers: true }
    const all = followSession(deps.bus, session, start, follow)
    let left = skip
    let hasText = false
    for await (const event of messageId === undefined ? all : turnOf(all, messageId)) {
      if (event.type === 'text' && !hasText) onText?.()
      hasText ||= event.type === 'text'
      for (const { id, data } of sseFrames(event).slice(left)) {
        yield { id, data: shown?.(data) ?? data }
      }
      left = 0
    }
  }
  await sendEvents(deps, reply, frames, place)
}
