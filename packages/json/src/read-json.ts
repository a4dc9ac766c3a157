import { wellFormedJson } from './well-formed-json.ts'

/**
 * `JSON.parse`, but some servers write control characters into strings as they are, such as tabs and colours, and those
 * are accepted. Throws a `SyntaxError` that shows where the text is no JSON. A thread runs its source, so it uses nothing
 * of this file; it leaves out `wellFormed`, which mends characters that were cut in two.
 */
export function readJson(received: string, wellFormed = wellFormedJson): unknown {
  const text = wellFormed(received)
  try {
    return JSON.parse(text)
  } catch {
    const [quote, backslash, space] = [0x22, 0x5c, 0x20]
    let mended = ''
    let from = 0
    let isInString = false
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === quote) isInString = !isInString
      else if (code === backslash) at += 1
      else if (code < space && isInString) {
        mended += `${text.slice(from, at)}\\u${code.toString(16).padStart(4, '0')}`
        from = at + 1
      }
    }
    mended += text.slice(from)
    try {
      return JSON.parse(mended)
    } catch (error) {
      const { message } = error as SyntaxError
      const shown = 24
      const quoted = /, (?:\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON/s.exec(message)?.[1]
      const at = Number(/ at position (\d+)/.exec(message)?.[1] ?? mended.length)
      const near = quoted ?? mended.slice(Math.max(0, at - shown), at + shown)
      throw new SyntaxError(`near ${JSON.stringify(near)}`)
    }
  }
}
