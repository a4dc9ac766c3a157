import type { Json } from './fields.ts'

/** A word or quoted text of a sentence, or one of the names that were looked for in it. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'tool' | 'argument' | 'option'
  /** The text without quotes; for a name, its original spelling. */
  readonly text: string
  readonly start: number
  readonly end: number
}

export type Name = readonly [kind: 'tool' | 'argument' | 'option', text: string]

/** Limits for names, which servers choose: each is compared with each place of the sentence. */
const MAX_NAMES = 500
const MAX_NAME_LENGTH = 100

const QUOTED = /(?<quote>["'`])(?<quoted>.*?)\k<quote>|“(?<curled>[^”]*)”/
/** The punctuation behind a word belongs to the sentence. */
const WORD =
  /(?<word>(?<!\S)\.\.?|(?![.?!:]{1,3}(?!\S))[^\s,;()"”][^\s,;]*?)[.?!):]{0,3}(?=[\s,;]|$)/
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Words that may stand between two words of a name. */
const ARTICLE = /^(?:me|an?|the)$/
const MAX_ARTICLES = 2
/** The largest number of characters between two words of a name. */
const MAX_GAP = 3
/** Words that stand around a value and are no part of it. */
const LINK =
  /^(?:about|an|and|as|at|called|equal|for|from|in|into|is|named|of|on|please|saying|set|thanks|that|the|to|using|with)$/i
const PATH = /^[.~]+$|^[^*]*(?:[/\\@]|\.[a-z]\w{0,7}$)/i

/** The tokens of a sentence. Of two names at the same place the first one counts. */
export function readTokens(text: string, names: readonly Name[] = []): Token[] {
  const named = new Map<number, Token>()
  const json = findJson(text)
  if (json !== '') {
    const start = text.indexOf(json)
    named.set(start, { kind: 'quoted', text: json, start, end: start + json.length })
  }
  const words = readWords(text)
  for (const [kind, name] of names.slice(0, MAX_NAMES)) {
    for (const { start, end } of findName(words, readName(name)))
      if (!named.has(start)) named.set(start, { kind, text: name, start, end })
  }
  const pattern = new RegExp(`${QUOTED.source}|${WORD.source}`, 'suy')
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    pattern.lastIndex = at
    const match = named.has(at) ? null : pattern.exec(text)
    const token = match === null ? named.get(at) : toToken(match)
    if (token !== undefined) tokens.push(token)
    at = match === null ? (token?.end ?? at + 1) : at + match[0].length
  }
  return tokens
}

function toToken({ 0: whole, index: start, groups = {} }: RegExpExecArray): Token {
  const { word, quoted, curled = quoted ?? '' } = groups
  return word === undefined
    ? { kind: 'quoted', text: curled, start, end: start + whole.length }
    : { kind: 'word', text: word, start, end: start + word.length }
}

/** A run of letters and digits in a sentence. */
export interface Word {
  /** In lower case. */
  readonly letters: string
  readonly start: number
  readonly end: number
  /** The number of characters since the word before. */
  readonly gap: number
  /** The quote and underscores before it, which belong to a name that begins here. */
  readonly lead: string
  /** What belongs to a name that ends here, with the sign before its value; `undefined` where none can end. */
  readonly tail: string | undefined
}

const WORDS =
  /(?=[\p{L}\p{N}])(?<=(?<lead>["'“]?_*))(?<letters>[\p{L}\p{N}]+)(?=(?<tail>_*["'”]?\s{0,3}[:=]|_*(?=[\s,;.?!()"'”`{]|$))|)/gu

export function readWords(sentence: string): Word[] {
  let before = 0
  return Array.from(sentence.matchAll(WORDS), ({ index: start, groups = {} }) => {
    const { lead = '', letters = '', tail } = groups
    const gap = start - before
    before = start + letters.length
    return { letters: letters.toLowerCase(), start, end: before, gap, lead, tail }
  })
}

/** A name without what differs between its spellings. */
export interface PlainName {
  /** In lower case. */
  readonly letters: string
  /** The ends of its words in `letters`: `list_openIssues` has 4, 8 and 14. */
  readonly ends: ReadonlySet<number>
}

/** The name has no words when it is too long. */
export function readName(name: string): PlainName {
  const spaced = name.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
  const words = readWords(name.length > MAX_NAME_LENGTH ? '' : spaced)
  let end = 0
  return {
    letters: words.map(({ letters }) => letters).join(''),
    ends: new Set(words.map(({ letters }) => (end += letters.length))),
  }
}

interface NamePlace {
  /** Index of its first word. */
  readonly index: number
  readonly start: number
  readonly end: number
}

/** The places of a name in any spelling: `fooBar`, `foo_bar`, "foo bar" and "foo the bar" are one. */
export function findName(words: readonly Word[], name: PlainName): NamePlace[] {
  return words.flatMap((first, index) => {
    const last = name.ends.size === 0 ? undefined : lastWordOf(words, index, name)
    if (last?.tail === undefined) return []
    // A quote belongs to the name in `"name": value`.
    const lead = /[:=]$/.test(last.tail) ? first.lead : first.lead.replace(/^[^_]/, '')
    return { index, start: first.start - lead.length, end: last.end + last.tail.length }
  })
}

/**
 * The last word of a name whose first word is at `from`. Takes each word of the sentence in one way, so that no name
 * costs more than its length.
 */
function lastWordOf(words: readonly Word[], from: number, name: PlainName): Word | undefined {
  let found = 0
  let articles = 0
  for (let index = from; ; index++) {
    const word = words[index]
    if (word === undefined || (index > from && word.gap > MAX_GAP)) return undefined
    const next = found + word.letters.length
    if (name.letters.startsWith(word.letters, found) && name.ends.has(next)) {
      if (next === name.letters.length) return word
      found = next
      articles = 0
    } else {
      articles++
      if (found === 0 || articles > MAX_ARTICLES || !ARTICLE.test(word.letters)) return undefined
    }
  }
}

/** The JSON in a sentence; empty when there is none. */
export function findJson(sentence: string): string {
  const end = Math.max(sentence.lastIndexOf('}'), sentence.lastIndexOf(']')) + 1
  const found = sentence.slice(sentence.search(/[{[]/), end)
  return parseJson(found) === undefined ? '' : found
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON.
    return undefined
  }
}

/** Whether a token is a value for some argument rather than a word of the sentence. */
export function isLiteral(token: Token): boolean {
  return (
    token.kind === 'quoted' || isPath(token) || (token.kind === 'word' && NUMBER.test(token.text))
  )
}

export function isPath({ kind, text }: Token): boolean {
  return kind === 'word' && PATH.test(text)
}

export function isLink({ kind, text }: Token): boolean {
  return kind === 'word' && LINK.test(text)
}
