const MAX_LENGTH = 8 * 1024

/** The beginning of a server's text, which may have any length, so that it fits into a message. */
export function truncate(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed()
}
