import type { ToolFinished } from '@mcp-host/contracts'
import type { ToolCall } from '@mcp-host/session-state'
import { blockText } from '@mcp-host/contracts'

/** The answer to a call that the log has, in words for a model; `undefined` while there is none. */
export function callText({ settled, result }: ToolCall): string | undefined {
  return settled?.message ?? (result && resultText(result))
}

/** The text of a tool's result for a model. */
export function resultText({
  content,
  structuredContent,
  error,
}: Pick<ToolFinished, 'content' | 'structuredContent' | 'error'>): string {
  if (error !== undefined) return error.message
  return content.length === 0 && structuredContent !== undefined
    ? JSON.stringify(structuredContent)
    : content.map(blockText).join('\n')
}
