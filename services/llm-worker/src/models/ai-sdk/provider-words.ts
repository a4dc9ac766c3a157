const MAX_LENGTH = 300
/** Longer bodies are not looked into. */
const MAX_BODY_LENGTH = 64 * 1024
/** API keys as the known providers write them. */
const KEYS = /\b(?:sk|xai|gsk|AIza)[-_A-Za-z0-9*.]{6,}|\bBearer\s+\S+/g

/** What a provider's answer of failure says, in one short line without the key; `undefined`: nothing readable. */
export function providerWords(body: string, apiKey: string): string | undefined {
  if (body.length > MAX_BODY_LENGTH) return undefined
  const text = (messageIn(parse(body)) ?? '')
    // A short one may be a word of any text, and is no secret.
    .replaceAll(apiKey.length < 4 ? '\0' : apiKey, '[secret]')
    .replaceAll(KEYS, '[secret]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (text === '') return undefined
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…`
}

/** A body that is no JSON is its own message, unless it is a page. */
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
