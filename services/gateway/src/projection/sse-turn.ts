import type { ToolProgressDown } from '@mcp-host/contracts'
import type { StreamEvent } from './session-reader.ts'

/**
 * The part of a session's stream about one message: its acceptance, and its turn until the end. The stream begins
 * before the message.
 */
export async function* turnOf(
  events: AsyncIterable<StreamEvent | ToolProgressDown>,
  messageId: string,
): AsyncGenerator<StreamEvent | ToolProgressDown> {
  let isRunning = false
  for await (const event of events) {
    if (event.type === 'turn' && event.payload.state === 'started') {
      isRunning = event.payload.messageId === messageId
    }
    const isOwn = event.type === 'user' ? event.payload.messageId === messageId : isRunning
    if (isOwn || event.type === 'session') yield event
    const isOver = isRunning && event.type === 'turn' && event.payload.state === 'done'
    if (isOver || event.type === 'session') return
  }
}
