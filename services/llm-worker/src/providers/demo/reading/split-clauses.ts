import { findLiterals } from './literals.ts'

/** What a person puts between two steps. */
const STEP =
  /(?:(?<![\s,;.])[\s,;.]+(?:and\s+)?|^\s*)(?:then|after that|afterwards)(?![\p{L}\p{N}_-])[\s,:]*/giu

/** One clause per step: "do this, then do that" has two. Quoted words and JSON are left whole. */
export function splitClauses(text: string): string[] {
  const whole = findLiterals(text).filter(({ kind }) => kind === 'quoted' || kind === 'json')
  const clauses: string[] = []
  let from = 0
  for (const match of text.matchAll(STEP)) {
    const end = match.index + match[0].length
    if (whole.some((literal) => literal.start < end && literal.end > match.index)) continue
    clauses.push(text.slice(from, match.index))
    from = end
  }
  clauses.push(text.slice(from))
  return clauses.map((clause) => clause.trim()).filter((clause) => /[\p{L}\p{N}]/u.test(clause))
}
