import type { HistoryMessage } from '@mcp-host/contracts'

/** A link is read by anybody, so it tells how a call was decided and not the user who did. */
export function withoutNames(message: HistoryMessage): HistoryMessage {
  const { data } = message
  if (data?.approval === undefined) return message
  return { ...message, data: { ...data, approval: { how: data.approval.how } } }
}
