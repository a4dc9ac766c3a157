import type { OfferedTool } from '@mcp-host/contracts'
import type { Field, Json } from './fields.ts'
import { readFields } from './fields.ts'
import type { Name, Token } from './tokens.ts'
import { findJson, isLink, isLiteral, isPath, parseJson, readTokens } from './tokens.ts'

export interface FilledArguments {
  readonly arguments: Readonly<Record<string, Json>>
  /** Required arguments without a value. */
  readonly missing: readonly string[]
}

/** Words that turn a switch on or off. */
const ON = /^(?:on|yes)$/i
const OFF = /^(?:no|not|off|without)$/i

/**
 * Fills the arguments of a tool from a sentence that has the tool's name. JSON in the sentence is
 * taken as all arguments. Otherwise the surest values come first: those after the names of arguments, those that only
 * one kind of argument accepts, quoted texts and paths. The remaining text goes to the one text argument that is left.
 * No token is used twice.
 */
export function fillArguments(
  sentence: string,
  inputSchema: OfferedTool['inputSchema'],
  name: string,
): FilledArguments {
  const fields = readFields(inputSchema)
  const required = fields.filter(({ isRequired }) => isRequired)
  const json = Object(parseJson(findJson(sentence))) as Record<string, Json>
  if (fields.some((field) => Object.hasOwn(json, field.name))) {
    const missing = required.filter((field) => !Object.hasOwn(json, field.name))
    return { arguments: json, missing: missing.map((field) => field.name) }
  }
  const tokens = readTokens(sentence, [
    ['tool', name],
    ...fields.map((field): Name => ['argument', field.name]),
    ...fields.flatMap(({ options }) => options.map((option): Name => ['option', option])),
  ])
  const values = new Map<string, Json>()
  const used = new Set(tokens.filter(({ kind }) => kind === 'tool' || kind === 'argument'))
  const isOpen = (field: Field): boolean => !values.has(field.name)
  const free = (isWanted: (token: Token) => boolean): Token[] =>
    tokens.filter((token) => !used.has(token) && isWanted(token))
  const fill = (field: Field, run: readonly Token[]): void => {
    const found = field.isText ? readText(field, run, sentence) : readTyped(field, run)
    if (found === undefined || !isOpen(field)) return
    values.set(field.name, found.value)
    for (const token of found.taken) used.add(token)
  }
  const fillNamed = (field: Field): void => {
    const at = tokens.findIndex(({ kind, text }) => kind === 'argument' && text === field.name)
    if (at < 0) return
    const end = tokens.findIndex((token, index) => index > at && used.has(token))
    fill(field, tokens.slice(at + 1, end < 0 ? undefined : end))
    if (field.isText || !isOpen(field)) return
    // In "without colours" the word before decides; a switch that is only named is on.
    fill(field, tokens.slice(Math.max(0, at - 1), at))
    if (isOpen(field) && field.accepts(true)) values.set(field.name, true)
  }

  const texts = fields.filter(({ isText }) => isText)
  const typed = fields.filter(({ isText }) => !isText)
  for (const field of typed) fillNamed(field)
  for (const field of typed) fill(field, free(isMeantFor(field)))
  for (const field of texts) fillNamed(field)
  const open = (): Field[] => texts.filter((field) => field.isRequired && isOpen(field))
  for (const field of open().filter(isPathName)) fill(field, free(isPath).slice(0, 1))
  for (const field of open()) fill(field, free(({ kind }) => kind === 'quoted').slice(0, 1))
  // The last text argument takes the remaining words, which may be a path when there are several.
  for (const field of open().slice(0, -1)) fill(field, free(isLiteral).slice(0, 1))
  const [last, ...others] = open()
  if (last !== undefined && others.length === 0) fill(last, restOf(tokens, used))

  const left = required.filter(isOpen)
  for (const { name: each, usual } of left) if (usual !== undefined) values.set(each, usual)
  return {
    arguments: Object.fromEntries(values),
    missing: left.filter(isOpen).map((field) => field.name),
  }
}

interface Found {
  readonly value: Json
  readonly taken: readonly Token[]
}

/** The first token that is a value; for a list, all tokens that are values of its items. */
function readTyped({ accepts }: Field, run: readonly Token[]): Found | undefined {
  const [one] = run.flatMap((token) => readToken(token, accepts))
  if (one !== undefined) return one
  const words = run.filter((token) => !isLink(token))
  const items = words.flatMap((token) => readToken(token, (value) => accepts([value])))
  if (items.length === 0) return undefined
  return { value: items.map(({ value }) => value), taken: items.flatMap(({ taken }) => taken) }
}

/** A token as text, as JSON, or as a word for yes or no; empty when none of these is accepted. */
function readToken(token: Token, accepts: Field['accepts']): Found[] {
  const { text } = token
  const values = [text, parseJson(text), ON.test(text) || (OFF.test(text) ? false : undefined)]
  const value = values.find((each) => each !== undefined && accepts(each))
  return value === undefined ? [] : [{ value, taken: [token] }]
}

/** One quoted text or path; otherwise all words except those that link a value to the sentence. */
function readText(field: Field, run: readonly Token[], sentence: string): Found | undefined {
  const from = run.findIndex((token) => !isLink(token))
  const to = run.findLastIndex((token) => !isLink(token)) + 1
  const words = from < 0 ? run.slice(0, 1) : run.slice(from, to)
  const [first] = words
  if (first === undefined) return undefined
  const isOne =
    words.length === 1 || first.kind === 'quoted' || (isPathName(field) && isPath(first))
  if (isOne) return { value: first.text, taken: [first] }
  if (isPathName(field)) return undefined
  return { value: sentence.slice(first.start, words.at(-1)?.end), taken: words }
}

/**
 * Tests for tokens that an argument may take anywhere in the sentence. Lists of texts take none, since any word could
 * be an item.
 */
function isMeantFor({ isRequired, accepts }: Field): (token: Token) => boolean {
  const isAny = isRequired && !accepts(['some text'])
  return (token) => isAny || token.kind === 'option' || (isRequired && isLiteral(token))
}

/** The unused words at the end of a sentence, after the name of the tool. */
function restOf(tokens: readonly Token[], used: ReadonlySet<Token>): Token[] {
  const runs: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'tool') runs.splice(0)
    if (used.has(token)) runs.push([])
    else runs.at(-1)?.push(token)
  }
  return runs.findLast((run) => run.some((token) => !isLink(token))) ?? []
}

function isPathName({ name }: Field): boolean {
  return /path|file|folder|directory/i.test(name)
}
