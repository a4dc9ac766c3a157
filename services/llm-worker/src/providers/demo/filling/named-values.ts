import { overlaps } from '../reading/literals.ts'
import type { Span } from '../reading/literals.ts'
import { isStopWord, squash } from '../reading/words.ts'
import { fillCounted } from './counted-values.ts'
import { convert, fromJson, optionText } from './convert.ts'
import type { Draft } from './draft.ts'
import type { Json, JsonSchema } from './field.ts'
import { isFreeText, leafWords } from './leaf.ts'
import type { Leaf } from './leaf.ts'
import { findInflected, findMentions } from './mention.ts'
import { hintsAt, PREPOSITION } from './phrases.ts'
import { numberWord } from './numbers.ts'

/** Arguments given by name: a JSON object, `name=value`, `name: value`, `name value`, `3 steps`. */
export function fillNamed(draft: Draft): void {
  fillFromJson(draft)
  const mentions = draft.leaves.map((leaf) => ({ leaf, spans: mentionsOf(draft, leaf) }))
  for (const separated of [true, false]) {
    for (const { leaf, spans } of mentions) {
      const others = mentions.filter((other) => other.leaf !== leaf)
      const stops = others.flatMap((other) => other.spans.map(({ start }) => start))
      for (const span of spans) {
        if (draft.isOpen(leaf)) fillAfter(draft, leaf, span, { separated, stops })
      }
    }
  }
  fillCounted(draft)
  for (const leaf of draft.leaves) fillFlag(draft, leaf)
}

function fillFromJson(draft: Draft): void {
  for (const literal of draft.clause.literals) {
    if (literal.kind !== 'json') continue
    const given = JSON.parse(literal.value) as Json
    if (typeof given !== 'object' || given === null || Array.isArray(given)) continue
    const known = Object.entries(given as JsonSchema).flatMap(([key, value]) => {
      const path = draft.leaves.find(({ path: [top] }) => squash(String(top)) === squash(key))?.path
      return path === undefined ? [] : [[path.slice(0, 1), value] as const]
    })
    for (const [path, value] of known) draft.set(path, value, 'named', literal)
  }
}

function mentionsOf({ clause, name }: Draft, leaf: Leaf): Span[] {
  const { path, field } = leaf
  const nested = path.length > 1 ? findMentions(clause, path.join('.')) : []
  return [...nested, ...findInflected(clause, field.name)].filter((span) => {
    if (separatorAfter(clause.text, span) !== undefined) return true
    const isOrdinary = isStopWord(field.name) && field.name.length < 5
    return !isOrdinary && !name.some((other) => overlaps(other, span))
  })
}

/** Where the value begins after `name=` or `name:`. */
function separatorAfter(text: string, span: Span): number | undefined {
  const [match] =
    /^["'`_]*\s*(?:=|:(?!\/\/|\\)|->|→)\s*/.exec(text.slice(span.end, span.end + 20)) ?? []
  return match === undefined ? undefined : span.end + match.length
}

const LINK =
  /^["'`_]*\s+(?:(?:is|are|as|of|to|called|named|set to|equal to|equals|should be|being)\s+)?/i

interface AfterOptions {
  readonly separated: boolean
  /** Where other arguments are named. */
  readonly stops: readonly number[]
}

function fillAfter(draft: Draft, leaf: Leaf, mention: Span, options: AfterOptions): void {
  const { text } = draft.clause
  const afterSeparator = separatorAfter(text, mention)
  if (options.separated !== (afterSeparator !== undefined)) return
  const [link] = LINK.exec(text.slice(mention.end, mention.end + 30)) ?? []
  const start = afterSeparator ?? (link === undefined ? undefined : mention.end + link.length)
  if (start === undefined || start >= text.length) return
  const stop = Math.min(text.length, ...options.stops.filter((position) => position >= start))
  const given = valueAt(draft, leaf, { start, end: stop }, text.charAt(start - 1))
  if (given === undefined || !draft.isFree(given.span)) return
  draft.set(leaf.path, given.value, 'named', mention, given.span)
}

interface Given {
  readonly value: Json
  readonly span: Span
}

function valueAt(draft: Draft, leaf: Leaf, span: Span, separator: string): Given | undefined {
  const { clause } = draft
  const { field } = leaf
  const literal = clause.literals.find(({ start }) => start === span.start)
  if (literal?.kind === 'json') {
    const value = fromJson(JSON.parse(literal.value) as Json, field)
    return value === undefined ? undefined : { value, span: literal }
  }
  if (literal !== undefined && field.kind !== 'array') {
    const value = convert(literal.value, field)
    return value === undefined ? undefined : { value, span: literal }
  }
  const end = endOfValue(draft, leaf, span, separator)
  // A value may be one word or several: "New York" of an enumeration, "quite often" of a sentence.
  for (const candidate of [end, endOfWord(clause.text, span)]) {
    const raw = clause.text.slice(span.start, candidate)
    const value = convert(numberWord(raw, field.kind) ?? raw, field)
    if (value !== undefined) return { value, span: { start: span.start, end: candidate } }
  }
  return undefined
}

function endOfValue(draft: Draft, leaf: Leaf, span: Span, separator: string): number {
  const { text } = draft.clause
  const rest = text.slice(span.start, span.end)
  const { kind, options } = leaf.field
  if (kind === 'number' || kind === 'integer' || kind === 'boolean') return endOfWord(text, span)
  if (options !== undefined) return span.start + longestOption(rest, options).length
  if (kind === 'array') return span.start + trimConnectors(rest).length
  const [capitals] = CAPITALS.exec(rest) ?? []
  if (separator === '=') return capitals ? span.start + capitals.length : endOfWord(text, span)
  if (separator === ' ' && !isFreeText(leaf)) {
    if (capitals !== undefined) return span.start + capitals.length
    if (STARTS_ELSEWHERE.test(rest)) return span.start
  }
  if (STARTS_ELSEWHERE.test(rest) && separator === ' ') return span.start
  const cut = isFreeText(leaf)
    ? hintsAt(
        rest,
        draft.leaves.filter((other) => other !== leaf && draft.isOpen(other)),
      )
    : rest.search(PREPOSITION_OR_COMMA)
  return span.start + trimConnectors(cut < 0 ? rest : rest.slice(0, cut)).length
}

const CAPITALS = /^\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/u
const PREPOSITION_OR_COMMA = new RegExp(`,|;|\\s+(?:and|or|${PREPOSITION})\\s`, 'i')
const STARTS_ELSEWHERE = new RegExp(
  `^(?:and|or|that|which|please|${PREPOSITION})(?![\\p{L}\\p{N}])`,
  'iu',
)

function trimConnectors(text: string): string {
  let trimmed = text.trimEnd()
  for (;;) {
    const next = trimmed.replace(
      /(?:[\s,;.!?]+|\s(?:and|with|for|to|in|on|from|of|plus|using|by|the|its|please))$/i,
      '',
    )
    if (next === trimmed) return trimmed
    trimmed = next
  }
}

function endOfWord(text: string, { start, end }: Span): number {
  const [word = ''] = /^[^\s,;]*/.exec(text.slice(start, end)) ?? []
  return start + word.replace(/[.!?)]+$/, '').length
}

function longestOption(text: string, options: readonly Json[]): string {
  const words = /^(?:\s*[\p{L}\p{N}_-]+){1,5}/u.exec(text)?.[0].split(/(?=\s)/) ?? []
  for (let length = words.length; length > 0; length--) {
    const candidate = words.slice(0, length).join('')
    if (options.some((option) => squash(optionText(option)) === squash(candidate))) return candidate
  }
  return ''
}

/** A switch that is named: "recursive", "with image", "without image". */
function fillFlag(draft: Draft, leaf: Leaf): void {
  if (leaf.field.kind !== 'boolean' || !draft.isOpen(leaf)) return
  const names = [
    leaf.field.name,
    leafWords(leaf)
      .filter((word) => !FLAG_VERBS.has(word))
      .join(' '),
  ]
  const mention = names
    .flatMap((name) => findInflected(draft.clause, name))
    .find((span) => draft.isFree(span) && !draft.name.some((other) => overlaps(other, span)))
  if (mention === undefined) return
  const isOff =
    /\b(?:no|not|non|without|don't|never|excluding|skip)[\s-]+(?:an?\s+|the\s+|any\s+)?$/i.test(
      draft.clause.text.slice(Math.max(0, mention.start - 20), mention.start),
    )
  draft.set(leaf.path, !isOff, 'named', mention)
}

const FLAG_VERBS = new Set(['is', 'include', 'enable', 'use', 'with', 'show', 'has', 'should'])
