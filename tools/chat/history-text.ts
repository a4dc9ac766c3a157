import { plain } from '../plain.ts'
import type { Message } from './chat-api.ts'

/**
 * Earlier messages of a session as the terminal shows them. A turn that is not over has its question only: the rest
 * comes with the events.
 */
export function historyText(messages: readonly Message[]): string {
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

function lines({ role, content = '', data, toolName }: Message): string {
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
