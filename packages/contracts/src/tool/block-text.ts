import type { ToolFinished } from '../session/tool-fact.ts'

/** The readable text of an MCP content block: its text, or its type in brackets. */
export function blockText(block: ToolFinished['content'][number]): string {
  if (typeof block['text'] === 'string') return block['text']
  const { resource } = block as { resource?: { uri?: unknown; text?: unknown } }
  if (typeof resource?.text === 'string') return resource.text
  const label = [block['mimeType'], block['uri'], resource?.uri].find(
    (it) => typeof it === 'string',
  )
  return label === undefined ? `[${block.type}]` : `[${block.type} ${label}]`
}
