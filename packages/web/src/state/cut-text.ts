import { countOf } from '@mcp-host/client'

/** The beginning of a text. */
export interface CutText {
  readonly shown: string
  /** How much is behind it, in words; empty for a whole text. */
  readonly left: string
}

/** Cuts a text behind so many lines or characters, whichever is less. A line break at its end begins no line. */
export function cutText(
  text: string,
  { lines, characters }: { readonly lines: number; readonly characters: number },
): CutText {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text
  let end = -1
  for (let count = 0; count < lines; count += 1) {
    end = whole.indexOf('\n', end + 1)
    if (end === -1 || end > characters) break
  }
  if (end !== -1 && end < characters) {
    const { length } = whole.slice(end + 1).split('\n')
    const left = `${countOf(length, 'line')} ${length === 1 ? 'is' : 'are'} left`
    return { shown: whole.slice(0, end), left }
  }
  const left = whole.length - characters
  if (left <= 0) return { shown: text, left: '' }
  return { shown: whole.slice(0, characters), left: `${left} characters are left` }
}
