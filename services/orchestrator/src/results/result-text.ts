import type { ToolCall, ToolFinished } from '@mcp-host/contracts'
import { blockText } from '@mcp-host/contracts'

/** All that the log has of a call's answer, as a model reads it; `undefined` while there is none. */
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
