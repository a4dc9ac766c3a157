/** The beginning of a text. */
export interface CutText {
  readonly shown: string
  /** How much is behind it; empty for a whole text. Lines, if it ends with a line. */
  readonly left: string
}

/** Cuts a text behind so many lines or characters, whichever is less. */
export function cutText(
  text: string,
  { lines, characters }: { readonly lines: number; readonly characters: number },
): CutText {
  let end = -1
  for (let count = 0; count < lines; count += 1) {
    end = text.indexOf('\n', end + 1)
    if (end === -1 || end > characters) break
  }
  if (end !== -1 && end < characters) {
    const left = text.slice(end + 1).split('\n').length
    return { shown: text.slice(0, end), left: `${left} lines are left` }
  }
  const left = text.length - characters
  if (left <= 0) return { shown: text, left: '' }
  return { shown: text.slice(0, characters), left: `${left} characters are left` }
}
