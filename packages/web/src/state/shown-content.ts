import { settledText } from '@mcp-host/client'
import type { ToolResult } from './turn.ts'

type Block = ToolResult['content'][number]

/** The content of a result for a user: what the host says in place of a tool that did not run is meant for the model. */
export function shownContent(
  outcome: ToolResult['outcome'] | undefined,
  content: readonly Block[],
): readonly Block[] {
  return outcome === 'refused' || outcome === 'cancelled' ? content.map(forUser) : content
}

function forUser(block: Block): Block {
  const { text } = block
  return typeof text === 'string' ? { ...block, text: settledText(text) } : block
}
