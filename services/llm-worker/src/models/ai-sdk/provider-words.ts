const MAX_LENGTH = 300
/** Longer bodies are not parsed. */
const MAX_BODY_LENGTH = 64 * 1024
/** API keys in the formats of the known providers. */
const KEYS = /\b(?:sk|xai|gsk|AIza)[-_A-Za-z0-9*.]{6,}|\bBearer\s+\S+/g

/** The message in a provider's error response, as one short line without the key; `undefined` when it has none. */
export function providerWords(body: string, apiKey: string): string | undefined {
  if (body.length > MAX_BODY_LENGTH) return undefined
  const text = (messageIn(parse(body)) ?? '')
    // A key of under four characters could be part of any word, and is no secret.
    .replaceAll(apiKey.length < 4 ? '\0' : apiKey, '[secret]')
    .replaceAll(KEYS, '[secret]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (text === '') return undefined
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…`
}

/** Parses a body. Text that is not JSON is a message itself, unless it is an HTML page. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body.trimStart().startsWith('<') ? undefined : body
  }
}

/** The message in one of the shapes that providers use: `{error: {message}}`, `{error}`, `{message}`, `{detail}`. */
function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  const { error, message, detail } = (Array.isArray(value) ? (value[0] ?? {}) : value) as Readonly<
    Record<string, unknown>
  >
  return messageIn(error) ?? [message, detail].find((each) => typeof each === 'string')
}
