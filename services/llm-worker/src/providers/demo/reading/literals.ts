/** A stretch of a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Something in a message that is a value by its looks. */
export interface Literal extends Span {
  readonly kind: 'json' | 'quoted' | 'url' | 'email' | 'date' | 'glob' | 'path' | 'number'
  /** Without quotes. */
  readonly value: string
}

/** Text after these is left as words. */
const MAX_LITERALS = 100

const PATTERN = new RegExp(
  [
    /"(?<double>(?:[^"\\]|\\.)*)"|“(?<curly>[^”]*)”|`(?<tick>[^`]*)`/u,
    /(?<![\p{L}\p{N}])'(?<single>[^']*)'(?![\p{L}\p{N}])/u,
    /(?<![\p{L}\p{N}+.-])(?<url>[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>`]+)/u,
    /(?<![\w.+-])(?<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)/u,
    /(?<![\p{L}\p{N}.-])(?<date>\d{4}-\d{2}-\d{2}(?:T[\d:.]{5,12}(?:Z|[+-]\d{2}:\d{2})?)?)(?![\p{L}\p{N}])/u,
    /(?<![\p{L}\p{N}_.-])(?<number>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\p{L}\p{N}_/-]|\.[\p{L}\p{N}])/u,
    /(?<![^\s("'=:,;[])(?<token>(?:[a-z]:\\)?[^\s"'`“”,;:()<>=[\]{}]+)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
)

/** All literals of the text, from left to right, none inside another. */
export function findLiterals(text: string): Literal[] {
  const found = jsonObjects(text)
  const blocked = [...found]
  for (const match of text.matchAll(PATTERN)) {
    if (found.length >= MAX_LITERALS) break
    const literal = toLiteral(match)
    if (literal === undefined || blocked.some((other) => overlaps(other, literal))) continue
    found.push(literal)
  }
  return found.toSorted((one, other) => one.start - other.start)
}

export function overlaps(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end
}

function toLiteral(match: RegExpExecArray): Literal | undefined {
  const groups = match.groups ?? {}
  const start = match.index
  const end = start + match[0].length
  const quoted = groups['double'] ?? groups['curly'] ?? groups['tick'] ?? groups['single']
  if (quoted !== undefined) return { kind: 'quoted', value: unescape(quoted), start, end }
  for (const kind of ['email', 'date', 'number'] as const) {
    const value = groups[kind]
    if (value !== undefined) return { kind, value, start, end }
  }
  // The full stop, question mark or bracket after it belongs to the sentence.
  const { url, token = '' } = groups
  const value = trimEnd(url ?? token)
  const span = { start, end: start + value.length }
  if (url !== undefined) return { kind: 'url', value, ...span }
  if (/[*?]/.test(value) && /[./]/.test(value)) return { kind: 'glob', value, ...span }
  return looksLikePath(value) ? { kind: 'path', value, ...span } : undefined
}

function trimEnd(token: string): string {
  if (/^[./~]+$/.test(token)) return token
  let end = token.length
  while (end > 1 && '.!?)'.includes(token.charAt(end - 1))) end--
  return token.slice(0, end)
}

function looksLikePath(token: string): boolean {
  if (/^(?:and\/or|\d+\/\d+|km\/h)$/i.test(token)) return false
  if (/^(?:\.{1,2}|~)$/.test(token) || /^(?:~|\.{1,2})?\//.test(token)) return true
  if (/^[a-z]:\\/i.test(token) || /[^/]\/[^/]|[^/]\/$/.test(token)) return true
  return /^[\p{L}\p{N}_-][^/]*\.[a-z][a-z0-9]{0,7}$|^\.[a-z][\w.-]*$/iu.test(token)
}

function unescape(text: string): string {
  return text.replaceAll(/\\(["\\])/g, '$1')
}

/** Outermost JSON objects and arrays. Each opening bracket is tried once, so this stays linear. */
function jsonObjects(text: string): Literal[] {
  const found: Literal[] = []
  let tries = 0
  for (let start = text.search(/[{[]/); start >= 0 && tries < 20; tries++) {
    const end = closingBracket(text, start)
    const value = text.slice(start, end)
    if (end > start && isJson(value)) found.push({ kind: 'json', value, start, end })
    const next = text.slice(Math.max(end, start + 1)).search(/[{[]/)
    start = next < 0 ? -1 : Math.max(end, start + 1) + next
  }
  return found
}

/** Where the bracket at `start` is closed, `start` when nowhere. */
export function closingBracket(text: string, start: number): number {
  let depth = 0
  let isQuoted = false
  for (let index = start; index < text.length; index++) {
    const character = text.charAt(index)
    if (isQuoted) {
      if (character === '\\') index++
      else if (character === '"') isQuoted = false
    } else if (character === '"') isQuoted = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return index + 1
  }
  return start
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // Brackets of ordinary prose: then it is no literal, and the words stay.
    return false
  }
}
