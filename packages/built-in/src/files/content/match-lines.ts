export interface LineMatch {
  /** From 1. */
  readonly line: number
  readonly text: string
}

export interface LineMatches {
  /** All lines of the file that match. */
  readonly count: number
  /** The first of them. */
  readonly first: readonly LineMatch[]
}

export interface LinePattern {
  readonly text: string
  readonly isRegex: boolean
  readonly ignoreCase: boolean
}

/** The lines that match. A thread gets the source of this function, so it uses nothing from outside. */
export function matchLines(
  { text, isRegex, ignoreCase }: LinePattern,
  content: string,
): LineMatches {
  const maxLines = 20
  const maxCharacters = 200
  const source = isRegex ? text : text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  const pattern = new RegExp(source, ignoreCase ? 'iu' : 'u')
  const isLiteral = !isRegex && !ignoreCase
  const first: { line: number; text: string }[] = []
  let count = 0
  for (const [index, each] of content.split(/\r?\n/).entries()) {
    const at = isLiteral ? each.indexOf(text) : (pattern.exec(each)?.index ?? -1)
    if (at < 0) continue
    count += 1
    if (first.length >= maxLines) continue
    const start = Math.max(0, at - maxCharacters / 2)
    first.push({ line: index + 1, text: each.slice(start, start + maxCharacters).toWellFormed() })
  }
  return { count, first }
}
