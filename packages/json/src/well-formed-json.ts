const ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u[dD][c-fC-F][0-9a-fA-F]{2}|.)/gs
/** A single escape; that of a pair is twice as long. */
const UNPAIRED = /^\\u[dD][89a-fA-F]..$/s

/**
 * Replaces each unpaired surrogate in a JSON text by U+FFFD. It comes from a text that was cut within a character, and
 * strict JSON parsers, such as those of model providers, refuse the whole message because of it.
 */
export function wellFormedJson(json: string): string {
  if (!json.includes('\\ud') && !json.includes('\\uD')) return json
  return json.replace(ESCAPE, (escape) => (UNPAIRED.test(escape) ? '\\ufffd' : escape))
}
