const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Longer strings are searched by native code, which takes longer to start. */
const SHORT_STRING = 48
/** The maximum size of a stored id or key with the spaces around it. */
const MAX_TOKEN_BYTES = 48

export interface JsonShape {
  /** The number of `{`, `[`, `:` and `,` outside of strings. */
  readonly values: number
  /** The number of `:` outside of strings. */
  readonly names: number
  readonly depth: number
  /** The `id` of the outermost object, if it is a number or a string. */
  readonly id: number | string | undefined
  /** Whether the outermost object has a `method`, and so is a request or a notification. */
  readonly hasMethod: boolean
}

/**
 * Reads the shape of a JSON text without parsing it. A megabyte of long strings takes 0.1 ms, a megabyte of brackets up
 * to 5 ms. The scan may stop after more than `enough` values. Invalid JSON has an arbitrary shape.
 */
export function inspectJson(bytes: Buffer, enough = Infinity): JsonShape {
  const inspector = new JsonInspector(enough)
  inspector.push(bytes)
  return inspector
}

/** `inspectJson` of a text that arrives in pieces. */
export class JsonInspector implements JsonShape {
  values = 0
  names = 0
  depth = 0
  id: JsonShape['id']
  hasMethod = false
  /** Bytes pushed so far. */
  bytes = 0
  readonly #enough: number
  #level = 0
  #isInString = false
  /** Whether the next byte belongs to an escape sequence. */
  #isEscaped = false
  /** The key of the current value of the outermost object, with its quotes. */
  #key = ''
  /** The beginning of the current key or value of the outermost object. */
  #token = ''

  constructor(enough = Infinity) {
    this.#enough = enough
  }

  push(bytes: Buffer): void {
    let at = this.#isInString ? this.#readString(bytes, 0) + 1 : 0
    let { values, names, depth } = this
    let level = this.#level
    for (; at < bytes.length; at += 1) {
      if (values > this.#enough && this.id !== undefined) break
      switch (bytes[at]) {
        case QUOTE:
          this.#level = level
          at = this.#readString(bytes, at)
          break
        case OPEN_BRACKET:
        case OPEN_BRACE:
          values += 1
          level += 1
          if (level > depth) depth = level
          break
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          if (level === 1) this.#endValue()
          level -= 1
          break
        case COMMA:
          values += 1
          if (level === 1) this.#endValue()
          break
        case COLON:
          values += 1
          names += 1
          if (level === 1) this.#endKey()
          break
        default:
          if (level === 1) this.#keep(bytes, at, at + 1)
      }
    }
    this.#level = level
    this.values = values
    this.names = names
    this.depth = depth
    this.bytes += bytes.length
  }

  /** Reads from or within a string to the quote that ends it. */
  #readString(bytes: Buffer, at: number): number {
    const start = this.#isInString ? at : at + 1
    const content = this.#isEscaped ? start + 1 : start
    const end = endOfString(bytes, content)
    if (this.#level === 1) this.#keep(bytes, at, end + 1)
    this.#isInString = end >= bytes.length
    this.#isEscaped = this.#isInString && endsEscaped(bytes, content)
    return end
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    const room = MAX_TOKEN_BYTES - this.#token.length
    if (room > 0) this.#token += bytes.toString('latin1', start, Math.min(end, start + room))
  }

  #endKey(): void {
    this.#key = this.#token.trim()
    this.#token = ''
    if (this.#key === '"method"') this.hasMethod = true
  }

  #endValue(): void {
    if (this.#key === '"id"') this.id = readId(this.#token)
    this.#key = ''
    this.#token = ''
  }
}

/** The position of the quote that ends the string with content from `start` on, or the length. */
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

/** Whether the bytes end within an escape sequence. The string begins at `start`. */
function endsEscaped(bytes: Buffer, start: number): boolean {
  let slashes = 0
  while (bytes.length - slashes > start && bytes[bytes.length - slashes - 1] === BACKSLASH) {
    slashes += 1
  }
  return slashes % 2 === 1
}

function readId(token: string): JsonShape['id'] {
  const literal = /^\s*("[^"\\]*"|-?\d+)\s*$/.exec(token)?.[1]
  return literal === undefined ? undefined : (JSON.parse(literal) as number | string)
}
