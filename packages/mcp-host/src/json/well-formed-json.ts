const ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u[dD][c-fC-F][0-9a-fA-F]{2}|.)/gs
/** An escape and one more character: both halves of a pair take twice as many. */
const ONE_HALF = /^\\u[dD][89a-fA-F]..$/s

/**
 * JSON in which the half of a surrogate pair that stands alone is replaced by U+FFFD. Such text is cut within a
 * character; strict parsers, such as those of model providers, refuse the whole of it.
 */
export function wellFormedJson(json: string): string {
  if (!json.includes('\\ud') && !json.includes('\\uD')) return json
  return json.replace(ESCAPE, (escape) => (ONE_HALF.test(escape) ? '\\ufffd' : escape))
}
