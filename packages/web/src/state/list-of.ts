/** The words of a text with commas or spaces between them. */
export function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((each) => each !== '')
}
