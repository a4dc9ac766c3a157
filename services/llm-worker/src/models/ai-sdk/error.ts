import { APICallError } from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'
import { ProviderError } from '../../provider-error.ts'
import { saysTooLong } from './overflow.ts'
import type { ProviderFailure } from '../../providers/definition/provider-failure.ts'
import { NO_CREDIT, readFailure, wordsOf } from '../../providers/definition/provider-failure.ts'

/** Groq answers 400 when its model writes a call that is no JSON, which it may not do again. */
const BROKEN_CALL = /tool_use_failed/
/** Statuses with which providers refuse a conversation that exceeds the context window. llama.cpp has 500, too. */
const OVERFLOW_STATUSES: readonly unknown[] = [400, 413, 422, 500, undefined]
/** A 404 with other words is about the address. OpenRouter has endpoints of models. */
const ABOUT_MODEL = /model|deployment|no endpoints/i
const UNREACHABLE: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens at its address'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name of its host is not known'],
  [/ENETUNREACH|EHOSTUNREACH/, 'there is no way to its host'],
  [/TIMEDOUT|TIMEOUT|TimeoutError/, 'it does not answer in time'],
  [/CERT|ALTNAME|ISSUER|VERIFY/, 'its certificate is not trusted'],
  [/EPROTO|_SSL_/, 'it does not speak TLS as asked; http:// and https:// may be mixed up'],
  [/ECONNRESET|UND_ERR_SOCKET/, 'the connection broke'],
]
/** What is to be done about an address at which no API is. */
export function addressRemedy(addressSetting = 'the base URL of the provider'): string {
  return `check ${addressSetting}, which mostly ends with /v1`
}
/** What errors of a provider name, so that an operator finds the setting to mend. */
export interface FailureContext {
  /** Masked in the words of the provider; empty where there is none. */
  readonly apiKey?: string | undefined
  readonly keySetting?: string | undefined
  /** Absent for the default address. */
  readonly addressSetting?: string | undefined
}
/** Messages that explain nothing. */
const NO_REASON =
  /^(bad request|invalid request|provider returned error|unprocessable entity|error)?[.!]?$/i

/**
 * Converts a provider's failure to an error for users. The provider's whole response stays in the cause, for the log.
 */
export function toBusError(
  provider: string,
  error: unknown,
  { apiKey = '', keySetting, addressSetting }: FailureContext = {},
): BusError {
  if (error instanceof BusError) return error
  if (APICallError.isInstance(error) && error.statusCode === undefined) {
    return new BusError(
      'unavailable',
      `${provider} ${unreachable(error, error.url, addressSetting)}`,
      { cause: error },
    )
  }
  const brokeOff = `${provider} broke off its answer`
  const failure = readFailure(error)
  if (failure === undefined) return new BusError('unavailable', brokeOff, { cause: error })
  const { status, codes, isInStream } = failure
  const says = isInStream ? brokeOff : `${provider} answered ${status}`
  const words = wordsOf(failure, apiKey)
  const more = words === undefined ? '' : ` (${words})`
  const wait = retryAfter(error)
  // OpenRouter answers 402 also to requests that fit into the budget a little later.
  if ((status === 402 && wait.retryAfterMs === undefined) || NO_CREDIT.test(codes)) {
    const message = `${says}: the account has no credit left there${more}`
    return new BusError('denied', message, { cause: error })
  }
  // Gemini answers 400 to a wrong key.
  if (status === 401 || status === 403 || /API_KEY_INVALID/.test(bodyOf(error))) {
    // The text of a 401 repeats only the key. OpenRouter answers 403 also to what its moderation refuses.
    const reason =
      status === 403
        ? `it refuses this request, or the API key for it${more}`
        : `it ${apiKey === '' && keySetting !== undefined ? 'wants an' : 'does not accept the'} API key`
    const remedy = keySetting === undefined ? '' : `; check ${keySetting}`
    return new BusError('denied', `${says}: ${reason}${remedy}`, { cause: error })
  }
  if (isOverflow(failure)) {
    // A retry would fail again, unlike one after `exhausted`.
    const message = `${says}: the conversation is too long for it${more}`
    return new BusError('invalid', message, { reason: 'context-overflow', cause: error })
  }
  if (status === 404 || status === 405) {
    const message = ABOUT_MODEL.test(`${codes} ${failure.message}`)
      ? `${says}: it has no such model${more}`
      : `${says}: nothing is${placeOf(error)}${more}; ${addressRemedy(addressSetting)}`
    return new BusError('not-found', message, { cause: error })
  }
  if (status === 429 || status === 402) {
    const message = `${says}: its rate limit is reached${more}`
    return new ProviderError('exhausted', message, { ...wait, cause: error })
  }
  const message = words === undefined ? says : `${says}: ${words}`
  const code = isPassing(status) || BROKEN_CALL.test(codes) ? 'unavailable' : 'invalid'
  return new ProviderError(code, message, { ...wait, cause: error })
}

/** An address in an error: without a password, or a key in the query. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** How a provider was not reached, from the codes of Node.js and OpenSSL, and where. */
export function unreachable(error: unknown, url: string, addressSetting?: string): string {
  const setting = addressSetting === undefined ? '' : ` (${addressSetting})`
  return `cannot be reached${reasonOf(error)}; its address is ${new URL(url).origin}${setting}`
}

function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? String(cause.code) : cause.name
    const reason = UNREACHABLE.find(([pattern]) => pattern.test(code))?.[1]
    if (reason !== undefined) return `: ${reason} (${code})`
  }
  return ''
}

/** Whether a request was refused as invalid without a reason. */
export function isUnexplained(error: unknown): boolean {
  const { status, message = '' } = readFailure(error) ?? {}
  return (status === 400 || status === 422) && NO_REASON.test(message.trim())
}

function isOverflow({ status, message, codes }: ProviderFailure): boolean {
  if (!OVERFLOW_STATUSES.includes(status)) return false
  return status === 413 || saysTooLong(`${codes} ${message}`)
}

/** Whether the same request may succeed later. */
function isPassing(status: number | undefined): boolean {
  // TGI answers 424 when its model failed.
  return status === undefined || [408, 409, 424].includes(status) || status >= 500
}

function placeOf(error: unknown): string {
  return APICallError.isInstance(error) ? ` at ${shownAddress(error.url)}` : ' there'
}

function bodyOf(error: unknown): string {
  return (APICallError.isInstance(error) && error.responseBody) || ''
}

/** The pause that the provider asks for; the header has seconds or a date. */
function retryAfter(error: unknown): { retryAfterMs?: number } {
  const { responseHeaders = {} } = APICallError.isInstance(error) ? error : {}
  const exact = Number(responseHeaders['retry-after-ms'] ?? NaN)
  const said = responseHeaders['retry-after'] ?? ''
  const seconds = said.trim() === '' ? NaN : Number(said)
  const retryAfterMs = [exact, seconds * 1_000, Date.parse(said) - Date.now()].find(Number.isFinite)
  return retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(0, retryAfterMs) }
}
