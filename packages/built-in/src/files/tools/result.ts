import type { CallToolResult } from '@modelcontextprotocol/server'

/** A result with the same content for programs and for models. */
export function toResult(structuredContent: Record<string, unknown>, text: string): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent }
}

/** A name from the disk in one line. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\u{fffd}')
}
