/** A word, quoted text, JSON value or separator of a message. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'json' | 'separator'
  /** Without quotes. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** One step of a message: "do this, then do that" has two. */
export interface Clause {
  /** The whole message, which the offsets of the tokens refer to. */
  readonly message: string
  readonly tokens: readonly Token[]
}

/** Longer messages are cut, to bound the time on the event loop. */
const MAX_LENGTH = 8_000
const MAX_TOKENS = 500
const MAX_STEPS = 16

const TOKEN = new RegExp(
  [
    /"((?:[^"\\]|\\.)*)"|“([^”]*)”|`([^`]*)`|(?<![\p{L}\p{N}])'([^']*)'(?![\p{L}\p{N}])/u,
    /(?<json>[{[])/u,
    /(?<separator>=|:(?=\s|$))/u,
    /(?<url>[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"<>`]+)/u,
    /(?<word>[^\s"“”`=,;:()<>[\]{}]+(?::[^\s"“”`=,;:()<>[\]{}]+)*)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
)

export function readClauses(text: string): Clause[] {
  const message = text.slice(0, MAX_LENGTH)
  const clauses: Token[][] = [[]]
  for (const token of readTokens(message)) {
    const clause = clauses.at(-1) ?? []
    const last = clause.at(-1)?.text ?? ''
    const isStep =
      token.kind === 'word' &&
      (/^(?:then|afterwards)$/i.test(token.text) || /^after that$/i.test(`${last} ${token.text}`))
    if (isStep && /^(?:and|after)$/i.test(last)) clause.pop()
    if (isStep) clauses.push([])
    else clause.push(token)
  }
  return clauses
    .filter((tokens) => tokens.length > 0)
    .slice(0, MAX_STEPS)
    .map((tokens) => ({ message, tokens }))
}

function readTokens(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; tokens.length < MAX_TOKENS;) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(text)
    if (match === null) break
    const token = toToken(text, match)
    at = Math.max(token?.end ?? 0, match.index + match[0].length)
    if (token !== undefined) tokens.push(token)
  }
  return tokens
}

function toToken(text: string, match: RegExpExecArray): Token | undefined {
  const { index: start, groups = {} } = match
  const { json, separator, url, word } = groups
  const whole = { start, end: start + match[0].length }
  if (json !== undefined) {
    const end = closingBracket(text, start)
    const value = text.slice(start, end)
    return isJson(value) ? { kind: 'json', text: value, start, end } : undefined
  }
  if (separator !== undefined) return { kind: 'separator', text: separator, ...whole }
  const plain = url ?? word
  if (plain === undefined) {
    const quoted = match.slice(1, 5).find((group) => group !== undefined) ?? ''
    return { kind: 'quoted', text: quoted.replaceAll(/\\(["\\])/g, '$1'), ...whole }
  }
  // The full stop or question mark behind a word belongs to the sentence.
  const kept = /^[./~]+$/.test(plain) ? plain : plain.replace(/[.?!)]+$/, '')
  return kept === '' ? undefined : { kind: 'word', text: kept, start, end: start + kept.length }
}

/** The position behind the bracket that closes the one at `start`; `start` without one. */
function closingBracket(text: string, start: number): number {
  let depth = 0
  let isQuoted = false
  for (let index = start; index < text.length; index++) {
    const character = text.charAt(index)
    if (isQuoted && character === '\\') index++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && '{['.includes(character)) depth++
    else if (!isQuoted && '}]'.includes(character) && --depth === 0) return index + 1
  }
  return start
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Brackets of prose: the words inside are read one by one.
    return false
  }
}

/** A name without case and separators: `fooBar`, `foo-bar` and "foo bar" are one. */
export function squash(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** The words of a name or text in lower case; `list_openIssues` is three. */
export function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return spaced.match(/[\p{L}\p{N}]+/gu) ?? []
}

const STOP_WORDS = new Set(
  'a about after all an and any are as at be by can could do for from hello how i in into is it its like me my of on or please so that the their then there this thank thanks to tool tools us was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Whether a word tells nothing about the tool or its arguments. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase())
}

/** Whether a verb says as little about one tool as about another. */
export function isGenericVerb(word: string): boolean {
  return /^(?:call|find|get|give|list|make|print|read|return|run|show|tell|use)$/i.test(word)
}

/** A range of tokens; `to` is behind the last one. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The text of a range, without the quotes of a single token. */
export function textOf({ message, tokens }: Clause, { from, to }: Range): string {
  if (to - from === 1) return tokens[from]?.text ?? ''
  return message.slice(tokens[from]?.start, tokens[to - 1]?.end)
}

/** Every place where a name is written, in one token or as several words. */
export function findMentions(tokens: readonly Token[], name: string): Range[] {
  const wanted = squash(name)
  if (wanted === '') return []
  return tokens.flatMap((_, from) => {
    let joined = ''
    for (let to = from; to < tokens.length;) {
      const { kind, text } = tokens[to++] ?? { kind: 'separator', text: '' }
      if (kind === 'separator' || kind === 'json') return []
      joined += squash(text)
      if (joined === wanted) return [{ from, to }]
      if (joined === '' || !wanted.startsWith(joined)) return []
    }
    return []
  })
}
