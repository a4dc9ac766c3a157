import type { ToolFinished } from '../session/tool-fact.ts'

/** The readable text of an MCP content block: its text, else its kind. */
export function blockText(block: ToolFinished['content'][number]): string {
  if (typeof block['text'] === 'string') return block['text']
  const { resource } = block as { resource?: { uri?: unknown; text?: unknown } }
  if (typeof resource?.text === 'string') return resource.text
  const about = [block['mimeType'], block['uri'], resource?.uri].find(
    (it) => typeof it === 'string',
  )
  return typeof about === 'string' ? `[${block.type} ${about}]` : `[${block.type}]`
}
