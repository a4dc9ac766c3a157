/**
 * Makes text of MCP servers and models safe to print: replaces control characters of the terminal and of the writing
 * direction by spaces. Keeps line breaks and tabs.
 */
export function plain(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, ' ')
}

/** Makes a text safe to print as a field of a table: it can neither end its row nor its column. */
export function plainLine(text: string): string {
  return plain(text).replaceAll(/[\n\t\u2028\u2029]/g, ' ')
}
