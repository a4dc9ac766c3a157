import type { Message } from '@mcp-host/client'
import { plain } from '../plain.ts'

/** A message without its time. */
export type ShownMessage = Omit<Message, 'createdAt'>

/**
 * Earlier messages of a session in the form of the terminal. For an unfinished turn only the question is printed, since
 * the events bring the rest.
 */
export function historyText(messages: readonly ShownMessage[]): string {
  const open = new Set(
    messages
      .filter(({ role, metadata }) => role === 'user' && metadata.state !== 'done')
      .map(({ id }) => id),
  )
  return messages
    .filter(({ role, metadata }) => role === 'user' || !open.has(metadata.messageId))
    .map((message) => plain(lines(message)))
    .filter((text) => text !== '')
    .map((text) => `${text}\n`)
    .join('')
}

function lines({ role, content = '', data, toolName }: ShownMessage): string {
  switch (role) {
    case 'user':
      return `> ${content}`
    case 'tool': {
      const took = data?.durationMs === undefined ? '' : ` in ${Math.round(data.durationMs)} ms`
      const call = `→ ${toolName} ${JSON.stringify(data?.arguments)}`
      return data?.outcome === undefined ? call : `${call}\n← ${toolName} ${data.outcome}${took}`
    }
    case 'system':
      return content === '' ? '' : `(${content})`
    case 'assistant':
      return content
    default:
      return role satisfies never
  }
}
