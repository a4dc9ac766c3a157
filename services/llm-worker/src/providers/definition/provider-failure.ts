import { APICallError } from '@ai-sdk/provider'

const MAX_LENGTH = 300
/** Longer bodies are not parsed. */
const MAX_BODY_LENGTH = 64 * 1024
/** Limit for the objects around an error that are looked at. */
const MAX_DEPTH = 5
/** API keys in the formats of the known providers. */
const KEYS = /\b(?:sk|xai|gsk|AIza)[-_A-Za-z0-9*.]{6,}|\bBearer\s+\S+/g

/** Codes for an account that may not spend more. They come with several statuses; a retry never helps. */
export const NO_CREDIT =
  /insufficient_(quota|balance|credit)|billing|payment|credit_balance|spend_limit|organization_usage_limit/

/** The HTTP status that an error's code or type stands for, where the error has no status of its own. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [NO_CREDIT, 402],
  [/overloaded/, 529],
  [/rate_?limit|resource_exhausted|too_many_requests/, 429],
  [/unauthenticated|authentication|invalid_api_key|unauthorized/, 401],
  [/permission|forbidden/, 403],
  [/not_?found/, 404],
  [/too_large/, 413],
  [/timeout|deadline/, 504],
  [/unavailable/, 503],
  [/invalid|bad_?request|failed_precondition|unsupported|exceed_context/, 400],
  [/server_error|internal|api_error/, 500],
]

/** A failure that a provider reports within a stream, so after a status of success. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure'
  readonly body: string

  constructor(body: string) {
    super('the stream has an error')
    this.body = body
  }
}

/** What a provider says of a failure. */
export interface ProviderFailure {
  /** The HTTP status, or the one that the error's code stands for; absent when nothing tells it. */
  readonly status?: number
  /** Its message, whole. It may have the API key. */
  readonly message: string
  /** Its codes and types, such as `context_length_exceeded`. */
  readonly codes: string
  readonly isInStream: boolean
}

/** What a provider said of a failure; `undefined` when the failure is not from the provider. */
export function readFailure(error: unknown): ProviderFailure | undefined {
  if (error instanceof StreamFailure) {
    const { status, ...said } = readBody(error.body)
    return { ...said, ...(status === undefined ? {} : { status }), isInStream: true }
  }
  if (!APICallError.isInstance(error)) return undefined
  const { statusCode, responseBody = '' } = error
  if (statusCode === undefined || statusCode < 400) return undefined
  return { ...readBody(responseBody), status: statusCode, isInStream: false }
}

/** The failure in one event of a provider's stream, if the event is one. */
export function failureIn(event: unknown): StreamFailure | undefined {
  const { error, type, object } = fieldsOf(event) ?? {}
  const hasError = typeof error === 'string' || fieldsOf(error) !== undefined
  // OpenAI's Responses API has both types; older servers of vLLM have the object.
  const isError = type === 'error' || type === 'response.failed' || object === 'error'
  if (!hasError && !isError) return undefined
  return new StreamFailure(JSON.stringify(event).slice(0, MAX_BODY_LENGTH))
}

/** A provider's message as one short line for users, without the key; `undefined` when it has none. */
export function wordsOf(
  { message }: Pick<ProviderFailure, 'message'>,
  apiKey: string,
): string | undefined {
  const text = message
    // A key of under four characters could be part of any word, and is no secret.
    .replaceAll(apiKey.length < 4 ? '\0' : apiKey, '[secret]')
    .replaceAll(KEYS, '[secret]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  if (text === '') return undefined
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…`
}

type Fields = Readonly<Record<string, unknown>>

function readBody(body: string): Pick<ProviderFailure, 'status' | 'message' | 'codes'> {
  const value = body.length > MAX_BODY_LENGTH ? undefined : parse(body)
  const message = messageIn(value) ?? ''
  const levels = Array.from(levelsOf(value))
  const codes = levels
    .flatMap(({ code, type, status }) => [code, type, status])
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .join(' ')
    .toLowerCase()
  const stated = levels
    .flatMap(({ code, status }) => [Number(code), Number(status)])
    .find((each) => each >= 400 && each < 600)
  const status = stated ?? STATUSES.find(([pattern]) => pattern.test(codes))?.[1]
  return { message, codes, ...(status === undefined ? {} : { status }) }
}

/** Parses a body. Text that is not JSON is a message itself; of an HTML page it is the title. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    if (!body.trimStart().startsWith('<')) return body
    const title = /<title>([^<]*)<\/title>/i.exec(body)?.[1]
    return title === undefined ? 'a web page' : `a web page, ${title}`
  }
}

/** The error and the objects in which providers wrap it, from the innermost one: `{response: {error: {…}}}`. */
function* levelsOf(value: unknown, depth = 0): Generator<Fields> {
  const fields = fieldsOf(value)
  if (fields === undefined || depth > MAX_DEPTH) return
  yield* levelsOf(fields['error'] ?? fields['response'], depth + 1)
  yield fields
}

/**
 * The message in one of the shapes that providers use: `{error: {message}}`, `{error}`, `{message}`, `{detail}`,
 * `{detail: [{msg}]}`. A gateway such as OpenRouter puts the words of the provider behind it into `metadata.raw`.
 */
function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value
  const fields = fieldsOf(value)
  if (fields === undefined || depth > MAX_DEPTH) return undefined
  const inner = (each: unknown): string | undefined => messageIn(each, depth + 1)
  const { error, response, message, detail, msg, metadata } = fields
  const raw = fieldsOf(metadata)?.['raw']
  const behind = typeof raw === 'string' ? inner(parse(raw)) : undefined
  const own = [message, detail, msg].find((each) => typeof each === 'string')
  const said = inner(error) ?? own ?? inner(response) ?? inner(detail)
  return behind === undefined
    ? said
    : [said, behind].filter((each) => each !== undefined).join(': ')
}

/** An object's fields; of a list those of its first element. */
function fieldsOf(value: unknown): Fields | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'object' && first !== null ? (first as Fields) : undefined
}
