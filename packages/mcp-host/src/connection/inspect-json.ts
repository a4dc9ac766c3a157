const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Longer strings are searched for their end by native code, which takes longer to begin. */
const SHORT_STRING = 48
/** An id that has more is not one of ours. */
const MAX_ID_BYTES = 32

export interface JsonShape {
  /** Signs `{`, `[`, `:` and `,` outside of strings. */
  readonly values: number
  readonly depth: number
  /** The value of `id` in the outermost object, where it is a number or a text. */
  readonly id: number | string | undefined
  /** Whether the outermost object has a `method`: it is a request or a notification. */
  readonly hasMethod: boolean
}

/**
 * Reads the shape of a JSON text without parsing it, in 0.1 ms for a megabyte of long strings and up to 5 ms for
 * a megabyte of brackets. It may stop once it has more than `enough` values. A text that is not JSON has some shape too.
 */
export function inspectJson(bytes: Buffer, enough = Infinity): JsonShape {
  let values = 0
  let depth = 0
  let deepest = 0
  let id: JsonShape['id']
  let hasMethod = false
  for (let at = 0; at < bytes.length; at += 1) {
    if (values > enough && id !== undefined) break
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfString(bytes, at + 1)
        if (depth === 1 && isKey(bytes, at, end, 'method')) hasMethod = true
        if (depth === 1 && isKey(bytes, at, end, 'id')) id = readId(bytes, end + 1)
        at = end
        break
      }
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        depth += 1
        if (depth > deepest) deepest = depth
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
      case COMMA:
      case COLON:
        values += 1
        break
      default:
    }
  }
  return { values, depth: deepest, id, hasMethod }
}

/** Where the quote is that ends the string whose content begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length;) {
    const soon = Math.min(at + SHORT_STRING, bytes.length)
    while (at < soon) {
      if (bytes[at] === QUOTE) return at
      at += bytes[at] === BACKSLASH ? 2 : 1
    }
    const end = bytes.indexOf(QUOTE, at)
    if (end === -1) break
    let slashes = 0
    while (end - slashes > at && bytes[end - slashes - 1] === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
    at = end + 1
  }
  return bytes.length
}

function isKey(bytes: Buffer, start: number, end: number, key: string): boolean {
  if (end - start - 1 !== key.length || bytes.toString('latin1', start + 1, end) !== key)
    return false
  for (let at = end + 1; at < bytes.length; at += 1) {
    if (bytes[at] === COLON) return true
    if (!isSpace(bytes[at])) return false
  }
  return false
}

function readId(bytes: Buffer, start: number): JsonShape['id'] {
  const text = bytes.toString('latin1', start, start + MAX_ID_BYTES)
  const literal = /^\s*:\s*("[^"\\]*"|-?\d+)\s*[,}]/.exec(text)?.[1]
  return literal === undefined ? undefined : (JSON.parse(literal) as number | string)
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
}
