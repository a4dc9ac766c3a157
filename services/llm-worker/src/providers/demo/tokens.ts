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

/** Limit for the names of tools, whose number servers choose. */
const MAX_NAMES = 500

const QUOTED = /(?<quote>["'`])(?<quoted>.*?)\k<quote>|“(?<curled>[^”]*)”/
/** The punctuation behind a word belongs to the sentence. */
const WORD =
  /(?<word>(?<!\S)\.\.?|(?![.?!:]{1,3}(?!\S))[^\s,;()"”][^\s,;]*?)[.?!):]{0,3}(?=[\s,;]|$)/
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Words that stand around a value and are no part of it. */
const LINK =
  /^(?:about|an|and|as|at|called|equal|for|from|in|into|is|named|of|on|please|saying|set|thanks|that|the|to|using|with)$/i
const PATH = /^[.~]+$|^[^*]*(?:[/\\@]|\.[a-z]\w{0,7}$)/i

/** The tokens of a sentence. Of two names at the same place the first one counts. */
export function readTokens(text: string, names: readonly Name[] = []): Token[] {
  const known = names.filter(([, name]) => wordsOf(name).length > 0).slice(0, MAX_NAMES)
  const sources = known.map(([, name]) => `(${namePattern(name)})`)
  const json = findJson(text).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  if (json !== '') sources.push(`(?<json>${json})`)
  const pattern = new RegExp([...sources, QUOTED.source, WORD.source].join('|'), 'gisu')
  return Array.from(text.matchAll(pattern), (match) => {
    const { json: value, quoted = value, curled = quoted, word } = match.groups ?? {}
    const plain = [word === undefined ? 'quoted' : 'word', curled ?? word ?? ''] as const
    const index = match.slice(1).findIndex((group) => group !== undefined)
    const [kind, found] = known[index] ?? plain
    return {
      kind,
      text: found,
      start: match.index,
      end: match.index + (word ?? match[0]).length,
    }
  })
}

/** What may stand between two words of a name. */
const GAP = String.raw`(?:[^\p{L}\p{N}]{0,3}|\s(?:(?:me|an?|the)\s){1,2})`

/** Finds a name in any spelling: `fooBar`, `foo_bar`, "foo bar" and "foo the bar" are one. */
export function namePattern(name: string): string {
  const spelt = `_*${wordsOf(name).join(GAP)}_*`
  return `["'“]?${spelt}["'”]?\\s{0,3}[:=]|${spelt}(?=[\\s,;.?!()"'”\`{]|$)`
}

/** `list_openIssues` is three words. */
export function wordsOf(name: string): string[] {
  return name.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? []
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
