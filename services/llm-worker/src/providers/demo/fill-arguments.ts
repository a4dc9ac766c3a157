import { convert, fits, isLiteral, isMeantFor, isNumeric, isPath } from './convert.ts'
import type { Field, Json, JsonSchema } from './schema-fields.ts'
import { itemsOf, optionText, readFields } from './schema-fields.ts'
import type { Clause, Range } from './sentence.ts'
import { findMentions, isGenericVerb, isStopWord, squash, textOf } from './sentence.ts'

export interface FilledArguments {
  readonly arguments: Readonly<Record<string, Json>>
  /** Required arguments without a value. */
  readonly missing: readonly string[]
  /** How many quoted texts, paths and the like no argument took. */
  readonly unused: number
}

/** The name of the tool in the sentence, or the words that its name shares with the sentence. */
export type ChosenBy = { readonly name: Range } | { readonly words: readonly Range[] }

/** Words between a name and its value. */
const IS = /^(?:is|as|of|to|called|named|with)$/i
/** Words around a value of several words. */
const LINK =
  /^(?:about|an?|and|as|at|called|for|from|in|into|is|named|of|on|please|saying|thanks|that|the|to|using|with)$/i

/**
 * Fills the arguments of a tool from a sentence, the surest values first: JSON, values by the names of their
 * properties, then by type and format. The rest is for the one required text that is left. No token is used twice.
 */
export function fillArguments(
  clause: Clause,
  schema: JsonSchema,
  chosenBy: ChosenBy,
): FilledArguments {
  const draft = new Draft(clause, readFields(schema), chosenBy)
  fillFromJson(draft)
  fillNamed(draft)
  fillByType(draft)
  for (const field of draft.open) {
    const { options, isRequired } = field
    const usual = field.schema['default'] ?? (options?.length === 1 ? options[0] : undefined)
    if (isRequired) draft.set(field, usual)
  }
  fillRest(draft)
  return {
    arguments: Object.fromEntries(draft.values),
    missing: draft.open.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    unused: clause.tokens.filter(
      ({ kind, text }, index) =>
        draft.isFree(one(index)) && (kind === 'json' || kind === 'quoted' || isLiteral(text)),
    ).length,
  }
}

/** Arguments while they are being filled. */
class Draft {
  readonly clause: Clause
  readonly fields: readonly Field[]
  readonly values = new Map<string, Json>()
  readonly chosenBy: ChosenBy
  readonly #taken = new Set<number>()

  constructor(clause: Clause, fields: readonly Field[], chosenBy: ChosenBy) {
    this.clause = clause
    this.fields = fields
    this.chosenBy = chosenBy
    for (const range of 'name' in chosenBy ? [chosenBy.name] : chosenBy.words) this.#take(range)
  }

  get open(): Field[] {
    return this.fields.filter(({ name }) => !this.values.has(name))
  }

  isFree({ from, to }: Range): boolean {
    for (let index = from; index < to; index++) if (this.#taken.has(index)) return false
    return true
  }

  /** Returns whether the field had no value and this is one. */
  set({ name }: Field, value: Json | undefined, ...ranges: readonly Range[]): boolean {
    if (value === undefined || this.values.has(name)) return false
    this.values.set(name, value)
    for (const range of ranges) this.#take(range)
    return true
  }

  #take({ from, to }: Range): void {
    for (let index = from; index < to; index++) this.#taken.add(index)
  }
}

/** An object with the arguments, or the value of one that is a list or an object itself. */
function fillFromJson(draft: Draft): void {
  for (const [index, { kind, text }] of draft.clause.tokens.entries()) {
    if (kind !== 'json') continue
    const given = JSON.parse(text) as Json
    const entries = fits(given, 'object') ? Object.entries(given as JsonSchema) : []
    for (const field of draft.open) {
      const [, value] = entries.find(([key]) => squash(key) === squash(field.name)) ?? []
      if (value !== undefined && fits(value, field.type)) draft.set(field, value, one(index))
    }
    const whole = draft.open.find(({ type }) => type !== 'string' && fits(given, type))
    if (whole !== undefined && draft.isFree(one(index))) draft.set(whole, given, one(index))
  }
}

/** `name=value`, `name: value`, "name value", "3 names", and switches that are only named. */
function fillNamed(draft: Draft): void {
  const { clause, fields } = draft
  const { tokens } = clause
  const isSeparator = (index: number): boolean => tokens[index]?.kind === 'separator'
  const mentions = fields
    .flatMap((field) => findMentions(tokens, field.name).map((name) => ({ field, name })))
    .filter(({ name }) => draft.isFree(name) || isSeparator(name.to))
    .toSorted((first, second) => first.name.from - second.name.from)
  for (const { field, name } of mentions) {
    const stops = mentions.map((other) => other.name.from).filter((from) => from >= name.to)
    const end = Math.min(tokens.length, ...stops)
    let from = name.to
    while (from < end && (isSeparator(from) || IS.test(tokens[from]?.text ?? ''))) from++
    const sign = isSeparator(name.to) ? tokens[name.to]?.text : undefined
    for (const to of endsOfValue(draft, { from, to: end }, field, sign)) {
      const value = convert(textOf(clause, { from, to }), field)
      if (draft.set(field, value, name, { from, to })) break
    }
    const before = one(name.from - 1)
    const word = textOf(clause, before)
    if (field.type === 'boolean') draft.set(field, !/^(?:no|not|without)$/i.test(word), name)
    else if (isNumeric(field) && draft.isFree(before)) {
      draft.set(field, convert(word, field), name, before)
    }
  }
}

/** Where a value may end, the best guess first. */
function endsOfValue(
  { clause: { tokens } }: Draft,
  { from, to }: Range,
  field: Field,
  sign: string | undefined,
): number[] {
  if (from >= to) return []
  // Several quoted texts are found by their type.
  if (tokens[from]?.kind === 'quoted') return field.type === 'array' ? [] : [from + 1]
  const end = withoutLinks(tokens, { from, to }).to
  const ends = Array.from({ length: end - from }, (_, index) => end - index)
  if (!isFreeText(field)) return ends
  if (sign === ':') return [end]
  const capitals = ends.find((each) =>
    tokens.slice(from, each).every(({ text }) => /^\p{Lu}/u.test(text)),
  )
  return [capitals ?? (sign === '=' || isPath(field) ? from + 1 : end)]
}

/** Members of enumerations that are mentioned, and for required arguments values of their type and format. */
function fillByType(draft: Draft): void {
  const { tokens } = draft.clause
  for (const field of draft.open) {
    const { options = [], isRequired, type } = field
    for (const option of options) {
      const mention = findMentions(tokens, optionText(option)).find((range) => draft.isFree(range))
      if (mention !== undefined) draft.set(field, option, mention)
    }
    const items = type === 'array' ? itemsOf(field) : field
    const ranges = tokens.flatMap((token, index) =>
      isRequired && draft.isFree(one(index)) && isMeantFor(token, items) ? [one(index)] : [],
    )
    const values = ranges.flatMap(({ from }) => convert(tokens[from]?.text ?? '', items) ?? [])
    if (type !== 'array') draft.set(field, values[0], ...ranges.slice(0, 1))
    else if (values.length > 0) draft.set(field, values, ...ranges)
  }
}

/**
 * The rest of the sentence, for the one required text without a value: the words after the tool's name, or the longest
 * run of words, if they say more than "are in". Several texts take paths and the like in their order.
 */
function fillRest(draft: Draft): void {
  const { clause, chosenBy } = draft
  const isWanting = (each: Field): boolean => each.isRequired && isFreeText(each)
  const literals = clause.tokens.flatMap(({ text }, index) =>
    isLiteral(text) && draft.isFree(one(index)) ? [one(index)] : [],
  )
  const several = draft.open.filter(isWanting)
  for (const field of several.length > 1 ? several : []) {
    const range = literals.shift()
    if (range !== undefined) draft.set(field, convert(textOf(clause, range), field), range)
  }
  const [field, second] = draft.open.filter(isWanting)
  if (field === undefined || second !== undefined) return
  const runs: Range[] = []
  for (const [index, { kind }] of clause.tokens.entries()) {
    if (!draft.isFree(one(index)) || kind === 'separator') continue
    const last = runs.at(-1)
    if (last?.to === index) runs.splice(-1, 1, { from: last.from, to: index + 1 })
    else runs.push(one(index))
  }
  const isRest = ({ from, to }: Range): boolean =>
    'name' in chosenBy
      ? from >= chosenBy.name.to
      : clause.tokens.slice(from, to).some(({ text }) => !isStopWord(text) && !isGenericVerb(text))
  const [longest] = runs.filter(isRest).toSorted((a, b) => b.to - b.from - (a.to - a.from))
  if (longest === undefined) return
  const rest = withoutLinks(clause.tokens, longest)
  if (isPath(field) && rest.to - rest.from > 1) return
  draft.set(field, convert(textOf(clause, rest), field), rest)
}

function isFreeText({ type, options }: Field): boolean {
  return type === 'string' && options === undefined
}

/** A range without linking words at its ends; one word always remains. */
function withoutLinks(tokens: Clause['tokens'], range: Range): Range {
  let { from, to } = range
  const isLink = (index: number): boolean =>
    tokens[index]?.kind === 'word' && LINK.test(tokens[index].text)
  while (to - from > 1 && isLink(from)) from++
  while (to - from > 1 && isLink(to - 1)) to--
  return { from, to }
}

function one(index: number): Range {
  return { from: index, to: index + 1 }
}
