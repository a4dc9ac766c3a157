/** Control characters but tabs and ends of lines, spaces without width, and what changes the direction of a text. */
const HIDDEN =
  /(?![\t\n\r])[\p{Cc}\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu

/** Shows the characters of a text that a reader cannot see, so that nobody allows another text than the one that is shown. */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`)
}
