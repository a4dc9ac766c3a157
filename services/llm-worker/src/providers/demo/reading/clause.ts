import { findLiterals, overlaps } from './literals.ts'
import type { Literal, Span } from './literals.ts'
import { stem } from './words.ts'

export interface Word extends Span {
  /** In lower case. */
  readonly text: string
  readonly stem: string
}

/** One step of a user message, read once for choosing the tool and for filling its arguments. */
export interface Clause {
  readonly text: string
  /** Those outside literals. */
  readonly words: readonly Word[]
  readonly literals: readonly Literal[]
}

export function readClause(text: string): Clause {
  const literals = findLiterals(text)
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)]
    .map((match) => toWord(match[0], match.index))
    .filter(
      (word) => !literals.some((literal) => literal.kind !== 'number' && overlaps(literal, word)),
    )
  return { text, words, literals }
}

function toWord(text: string, start: number): Word {
  const lower = text.toLowerCase()
  return { text: lower, stem: stem(lower), start, end: start + text.length }
}
