import type {
  ContentBlock,
  Generation,
  PromptMessage,
  SessionState,
  ToolAnswer,
  ToolCall,
  ToolFinished,
} from '@mcp-host/contracts'
import { blockText } from '@mcp-host/contracts'

/** One result must not fill the room of the whole conversation. In UTF-16 units. */
const MAX_ANSWER_LENGTH = 64 * 1024

/**
 * The conversation as a model reads it: all turns that were begun, in order, and the message to be
 * answered, whose turn may not have reached the state yet.
 */
export function transcript(state: SessionState, current: number): PromptMessage[] {
  const messages: PromptMessage[] = []
  for (const input of new Set([...state.turns.keys(), current])) {
    const message = state.inputs.get(input)
    if (message === undefined) continue
    messages.push({ role: 'user', text: message.text })
    const generations = state.turns.get(input)?.generations ?? []
    messages.push(...generations.flatMap(generationMessages))
  }
  return messages
}

function generationMessages({ isVoid, result, calls }: Generation): PromptMessage[] {
  if (isVoid || result === undefined) return []
  // A reply that broke off was shown to the user; its tool calls never ran.
  const content =
    result.outcome === 'completed' ? result.content : result.content.filter(isPlainText)
  if (content.length === 0) return []
  const answers = Array.from(calls.values(), toAnswer)
  return [
    { role: 'assistant', content },
    ...(answers.length === 0 ? [] : [{ role: 'tool' as const, answers }]),
  ]
}

function isPlainText(block: ContentBlock): boolean {
  return block.type === 'text'
}

function toAnswer({ block, settled, result }: ToolCall): ToolAnswer {
  const base = { call: block.id, name: block.name }
  if (settled !== undefined) return { ...base, text: settled.message, isError: true }
  if (result === undefined) return { ...base, text: 'no answer', isError: true }
  return { ...base, text: resultText(result), isError: result.outcome === 'error' }
}

/** What a model can read of a tool's result. */
export function resultText({ content, structuredContent, error, blob }: ToolFinished): string {
  if (error !== undefined) return error.message
  const parts = content.map(blockText)
  const text =
    parts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : parts.join('\n')
  // An excerpt has its own length and says what is left out.
  if (blob !== undefined) return text
  const rest = text.length - MAX_ANSWER_LENGTH
  return rest <= 0
    ? text
    : `${text.slice(0, MAX_ANSWER_LENGTH)}\n… (${rest} more characters are left out; ask for less at a time)`
}
