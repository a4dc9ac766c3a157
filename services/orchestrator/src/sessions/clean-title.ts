/** A title in one line: white space is single, other control characters are removed. */
export function cleanTitle(title: string): string {
  return title
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .toWellFormed()
}
