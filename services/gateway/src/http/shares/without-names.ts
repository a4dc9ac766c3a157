import type { HistoryMessage } from '@mcp-host/contracts'
import type { SseEvent } from '../../projection/sse-event.ts'

/** A link is read by anybody, so it tells how a call was decided and not the user who did. */
export function withoutNames(message: HistoryMessage): HistoryMessage {
  const { data } = message
  if (data?.approval === undefined) return message
  return { ...message, data: { ...data, approval: { how: data.approval.how } } }
}

/** As `withoutNames`, of an event of a stream. */
export function eventWithoutNames(event: SseEvent): SseEvent {
  if (event.type !== 'status' || event.input?.state !== 'answered') return event
  const { by: _, ...input } = event.input
  return { ...event, input }
}
