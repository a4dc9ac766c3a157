import type { Clause } from '../reading/clause.ts'
import type { Span } from '../reading/literals.ts'
import { convert } from './convert.ts'
import { newDraft } from './draft.ts'
import type { Draft, Source } from './draft.ts'
import { readFields } from './field.ts'
import type { Json, JsonSchema } from './field.ts'
import { assemble, isFreeText, isPathLike, leafName, leavesOf } from './leaf.ts'
import type { Leaf } from './leaf.ts'
import { fillByLooks } from './looks.ts'
import { fillNamed } from './named-values.ts'
import { fillFromPhrases } from './phrases.ts'
import { capitalisedWords, restOfClause } from './rest.ts'

export interface FilledArguments {
  readonly arguments: Readonly<Record<string, Json>>
  /** Required arguments nothing was found for. */
  readonly missing: readonly string[]
  /** How well the clause and the arguments fit; below zero, rather not. */
  readonly quality: number
}

/** Finds the arguments for a tool in a clause, the surest values first. */
export function fillArguments(
  clause: Clause,
  schema: JsonSchema,
  name: readonly Span[],
): FilledArguments {
  const fields = readFields(schema)
  const leaves = leavesOf(fields)
  const draft = newDraft(clause, leaves, name)
  fillNamed(draft)
  fillByLooks(draft)
  fillFromPhrases(draft, (leaf, phrase) => take(draft, leaf, phrase, 'phrase'))
  for (const leaf of leaves) if (isWanting(draft, leaf)) fillDefault(draft, leaf)
  for (const leaf of leaves) {
    const words = isWanting(draft, leaf) && !isFreeText(leaf) ? capitalisedWords(draft) : undefined
    if (words !== undefined) take(draft, leaf, words, 'phrase')
  }
  for (const leaf of leaves) if (isWanting(draft, leaf)) fillRest(draft, leaf)
  return {
    arguments: assemble(fields, (path) => draft.valueAt(path)) ?? {},
    missing: leaves.filter((leaf) => isWanting(draft, leaf)).map(leafName),
    quality: qualityOf(draft),
  }
}

function isWanting(draft: Draft, leaf: Leaf): boolean {
  return leaf.isRequired && draft.isOpen(leaf)
}

function take(draft: Draft, leaf: Leaf, found: Span & { text: string }, source: Source): boolean {
  const isHere = isPathLike(leaf) && /^(?:current|this|here)$/i.test(found.text)
  const value = convert(isHere ? '.' : found.text, leaf.field)
  if (value === undefined) return false
  draft.set(leaf.path, value, source, found)
  return true
}

function fillDefault(draft: Draft, leaf: Leaf): void {
  const { fallback, options } = leaf.field
  const only = options?.length === 1 ? options[0] : undefined
  const value = fallback ?? only
  if (value !== undefined) draft.set(leaf.path, value, 'default')
}

/** Last resort. A path is one word at most: whole sentences are none. */
function fillRest(draft: Draft, leaf: Leaf): void {
  const { kind } = leaf.field
  if (kind === 'number' || kind === 'integer' || kind === 'boolean') return
  const rest = restOfClause(draft)
  const isSentence = /\s/.test(rest.text.replace(/^(?:the|a|an|my)\s+/i, ''))
  if (isPathLike(leaf) && isSentence && kind !== 'array') return
  const text = kind === 'array' ? rest.text.replace(/^(?:the|a|an|my)\s+/i, '') : rest.text
  take(draft, leaf, { ...rest, text }, 'rest')
}

const WORTH: Readonly<Record<Source, number>> = {
  named: 0.5,
  looks: 0.5,
  phrase: 0.3,
  rest: -0.3,
  default: 0,
}

function qualityOf(draft: Draft): number {
  let quality = 0
  for (const leaf of draft.leaves) {
    const source = draft.sourceOf(leaf)
    if (source === 'rest' && isFreeText(leaf)) continue
    if (source !== undefined) quality += WORTH[source]
  }
  for (const literal of draft.clause.literals) {
    // What the user wrote out so plainly was meant to be used.
    const isUnused =
      draft.isFree(literal) && !draft.name.some(({ start }) => start === literal.start)
    if (isUnused) quality -= literal.kind === 'number' ? 0.4 : 0.8
  }
  return quality
}
