const MAX_LENGTH = 8 * 1024

/** The beginning of a text that others wrote and that may be of any length: it must fit into a message. */
export function truncate(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed()
}
