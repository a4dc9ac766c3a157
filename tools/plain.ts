/**
 * A text that others wrote, such as MCP servers and models: without what would steer the terminal or show its characters in
 * another order. Lines and tabs stay.
 */
export function plain(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, ' ')
}
