import type { CallToolResult } from '@modelcontextprotocol/client'

/** The text of a result's first part. */
export function textOf({ content: [part] }: CallToolResult): string {
  if (part?.type !== 'text') throw new Error('the result does not start with text')
  return part.text
}
