/** The length of all arguments together, and of one value. */
const MAX_LENGTH = 200
const MAX_VALUE_LENGTH = 80

/** The arguments of a tool call in short words, such as ` with path "/a", limit 3`; empty without arguments. */
export function argumentWords(given: unknown): string {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  const parts = isObject
    ? Object.entries(given).map(([name, value]) => `${cut(name, MAX_VALUE_LENGTH)} ${words(value)}`)
    : [words(given)]
  return parts.length === 0 ? '' : ` with ${cut(parts.join(', '), MAX_LENGTH)}`
}

function words(value: unknown): string {
  return cut(JSON.stringify(value) ?? '', MAX_VALUE_LENGTH)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}
