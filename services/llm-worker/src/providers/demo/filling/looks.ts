import { overlaps } from '../reading/literals.ts'
import type { Literal, Span } from '../reading/literals.ts'
import { convert, fromJson, optionText } from './convert.ts'
import type { Draft } from './draft.ts'
import type { Json } from './field.ts'
import { isFreeText, isPathLike, isPatternLike, isUrlLike } from './leaf.ts'
import type { Leaf } from './leaf.ts'
import { findMentions } from './mention.ts'
import { isHinted } from './phrases.ts'
import { numberWord } from './numbers.ts'

/** Values that show by their looks where they belong: numbers, paths, addresses, quoted words. */
export function fillByLooks(draft: Draft): void {
  const wanting = [...draft.leaves].filter((leaf) => draft.isOpen(leaf))
  for (const leaf of wanting) if (leaf.field.options !== undefined) fillOption(draft, leaf)
  for (const leaf of wanting) if (draft.isOpen(leaf)) fillAnnounced(draft, leaf)
  for (const leaf of wanting) if (draft.isOpen(leaf)) fillLiteral(draft, leaf)
  for (const leaf of wanting) {
    if (draft.isOpen(leaf) && leaf.isRequired && leaf.field.kind === 'boolean')
      fillYesNo(draft, leaf)
  }
}

/** A member of an enumeration that is mentioned. */
function fillOption(draft: Draft, leaf: Leaf): void {
  const options = leaf.field.options ?? []
  const mentioned = options
    .flatMap((option) =>
      findMentions(draft.clause, optionText(option)).map((span) => ({ option, span })),
    )
    .filter(({ span }) => draft.isFree(span) && (leaf.isRequired || !isInName(draft, span)))
    // The longest: "very high" before "high".
    .toSorted((one, other) => length(other.span) - length(one.span))
  const [first] = mentioned
  if (first !== undefined) draft.set(leaf.path, first.option, 'looks', first.span)
}

/** "from a.txt to b.txt": the word before a literal tells which of the arguments it is. */
function fillAnnounced(draft: Draft, leaf: Leaf): void {
  const kinds = kindsFor(leaf, false)
  for (const literal of draft.clause.literals) {
    if (!kinds.includes(literal.kind) || !draft.isFree(literal)) continue
    const before = draft.clause.words.findLast(({ end }) => end <= literal.start)
    if (before === undefined || !isHinted(leaf, before.text)) continue
    if (draft.clause.text.slice(before.end, literal.start).trim() !== '') continue
    const value = convert(literal.value, leaf.field)
    if (value !== undefined) return draft.set(leaf.path, value, 'looks', literal)
  }
}

function fillLiteral(draft: Draft, leaf: Leaf): void {
  const { field } = leaf
  if (field.options !== undefined) return
  const free = draft.clause.literals.filter((literal) => draft.isFree(literal))
  const json = free.find(
    (literal) => literal.kind === 'json' && jsonValue(literal, leaf) !== undefined,
  )
  const value = json === undefined ? undefined : jsonValue(json, leaf)
  if (json !== undefined && value !== undefined) {
    draft.set(leaf.path, value, 'looks', json)
    return
  }
  if (field.kind === 'array') fillArray(draft, leaf, free)
  else fillOne(draft, leaf, free)
}

function jsonValue(literal: Literal, { field }: Leaf): Json | undefined {
  if (field.kind !== 'array' && field.kind !== 'object') return undefined
  return fromJson(JSON.parse(literal.value) as Json, field)
}

function fillOne(draft: Draft, leaf: Leaf, free: readonly Literal[]): void {
  const { kind } = leaf.field
  const isNumber = kind === 'number' || kind === 'integer'
  const values = isNumber ? [...free, ...numberWords(draft, leaf)] : free
  const inOrder = values.toSorted((one, other) => one.start - other.start)
  for (const wanted of kindsFor(leaf, isNumber)) {
    for (const literal of inOrder) {
      if (literal.kind !== wanted) continue
      const value = convert(literal.value, leaf.field)
      if (value !== undefined) return draft.set(leaf.path, value, 'looks', literal)
    }
  }
}

/** "two" and the like, as if they were written with digits. */
function numberWords(draft: Draft, { field }: Leaf): Literal[] {
  return draft.clause.words.flatMap((word) => {
    const value = numberWord(word.text, field.kind)
    return value === undefined || !draft.isFree(word) ? [] : [{ ...word, kind: 'number', value }]
  })
}

function fillArray(draft: Draft, leaf: Leaf, free: readonly Literal[]): void {
  const { items } = leaf.field
  if (items === undefined) return
  const mentioned = (items.options ?? []).flatMap((option) =>
    findMentions(draft.clause, optionText(option)).map((span) => ({ option, span })),
  )
  if (mentioned.length > 0) {
    const inOrder = mentioned.toSorted((one, other) => one.span.start - other.span.start)
    const values = inOrder.map(({ option }) => option)
    return draft.set(leaf.path, values, 'looks', ...inOrder.map(({ span }) => span))
  }
  const isNumber = items.kind === 'number' || items.kind === 'integer'
  for (const wanted of kindsFor({ ...leaf, field: items }, isNumber)) {
    const found = free.flatMap((literal) => {
      const value = literal.kind === wanted ? convert(literal.value, items) : undefined
      return value === undefined ? [] : [{ literal, value }]
    })
    if (found.length === 0) continue
    const values = found.map(({ value }) => value)
    return draft.set(leaf.path, values, 'looks', ...found.map(({ literal }) => literal))
  }
}

/** Which literals the argument takes, best first. Optional ones take only what is surely meant. */
function kindsFor(leaf: Leaf, isNumber: boolean): readonly Literal['kind'][] {
  const { kind, format } = leaf.field
  const { isRequired } = leaf
  if (isNumber) return isRequired ? ['number'] : []
  if (kind !== 'string' && kind !== 'any') return []
  if (isUrlLike(leaf)) return isRequired ? ['url', 'quoted', 'path'] : ['url']
  if (format === 'email' || /e-?mail/i.test(leaf.field.name)) return ['email']
  if (format === 'date' || format === 'date-time') return ['date']
  if (isPatternLike(leaf)) return isRequired ? ['glob', 'quoted'] : ['glob']
  if (isPathLike(leaf)) return isRequired ? ['path', 'quoted'] : ['path']
  if (!isRequired) return []
  if (isFreeText(leaf)) return ['quoted']
  return ['quoted', 'path', 'url', 'email', 'date', 'glob', ...(kind === 'any' ? NUMBER : [])]
}

const NUMBER: readonly Literal['kind'][] = ['number']

/** A bare yes or no, for a switch that must be given. */
function fillYesNo(draft: Draft, leaf: Leaf): void {
  for (const word of draft.clause.words) {
    const value = convert(word.text, leaf.field)
    if (value !== undefined && draft.isFree(word)) {
      return draft.set(leaf.path, value, 'looks', word)
    }
  }
}

function isInName({ name }: Draft, span: Span): boolean {
  return name.some((other) => overlaps(other, span))
}

function length({ start, end }: Span): number {
  return end - start
}
