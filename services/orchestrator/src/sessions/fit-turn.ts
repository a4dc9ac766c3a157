import type { HistoryMessage } from '@mcp-host/contracts'

/** The length to which texts are cut as the last resort, in UTF-16 units. */
const CUT_LENGTH = 2_000

/**
 * The messages of a turn, reduced until they fit. The order of reduction: results of tools, arguments and reasoning,
 * all but the beginning of each text, everything but the user message.
 */
export function fitTurn(messages: readonly HistoryMessage[], maxBytes: number): HistoryMessage[] {
  let fitting = [...messages]
  for (const smaller of [withoutResult, withoutDetails, withCutText]) {
    if (bytesOf(fitting) <= maxBytes) return fitting
    fitting = fitting.map(smaller)
  }
  return bytesOf(fitting) <= maxBytes ? fitting : userOnly(fitting)
}

/** The size of messages as JSON. */
export function bytesOf(messages: readonly HistoryMessage[]): number {
  return Buffer.byteLength(JSON.stringify(messages))
}

function userOnly([user]: readonly HistoryMessage[]): HistoryMessage[] {
  if (user === undefined) return []
  const { createdAt, metadata } = user
  const { messageId } = metadata
  const content = 'This turn is too large to be shown.'
  const note = { id: `${messageId}-size`, role: 'system' as const, createdAt, content }
  return [user, { ...note, metadata: { messageId } }]
}

function withoutResult({ data, ...message }: HistoryMessage): HistoryMessage {
  if (data?.content === undefined) return { ...message, ...(data && { data }) }
  const { structuredContent: _, ...rest } = data
  const content = [{ type: 'text', text: 'This result is too large to be shown here.' }]
  return { ...message, data: { ...rest, content } }
}

function withoutDetails({ data, metadata, ...message }: HistoryMessage): HistoryMessage {
  const { reasoning: _, ...rest } = metadata
  return {
    ...message,
    ...(data && {
      data: { ...data, arguments: 'These arguments are too large to be shown here.' },
    }),
    metadata: rest,
  }
}

function withCutText({ content, ...message }: HistoryMessage): HistoryMessage {
  if (content === undefined || content.length <= CUT_LENGTH) {
    return { ...message, ...(content !== undefined && { content }) }
  }
  const cut = content.slice(0, CUT_LENGTH).toWellFormed()
  return { ...message, content: `${cut}\n… (the rest is too large to be shown here)` }
}
