/** A text with an insertion. The place, in UTF-16 units, may be behind its end, as the text may have become shorter. */
export function insertAt(text: string, place: number, insertion: string): string {
  return text.slice(0, place) + insertion + text.slice(place)
}
