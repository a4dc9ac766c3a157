/**
 * Makes text of MCP servers and models safe to print: replaces control characters of the terminal and of the writing
 * direction by spaces. Keeps line breaks and tabs.
 */
export function plain(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, ' ')
}
