/**
 * Control characters but tabs and ends of lines, characters without width or ink, and what changes the direction of a
 * text. Joiners stay: words of some languages and emoji need them.
 */
const HIDDEN =
  /(?![\t\n\r])[\p{Cc}\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** Shows the characters of a text that a reader cannot see, so that nobody allows another text than the one that is shown. */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`)
}
