import { APICallError } from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'
import { ProviderError } from '../../provider-error.ts'
import { providerWords } from './provider-words.ts'

/** Texts with status 400 by which providers refuse a conversation that exceeds the context window. */
const TOO_LONG =
  /context.?(length|window|limit)|maximum (context|prompt)|prompt is too long|too many tokens|input token count\b.*\bexceeds|request.?too.?large/is

/**
 * Converts a provider's failure to an error for users. The provider's whole response stays in the cause, for the log.
 */
export function toBusError(provider: string, error: unknown, apiKey = ''): BusError {
  if (error instanceof BusError) return error
  const brokeOff = new BusError('unavailable', `${provider} broke off its answer`, { cause: error })
  if (!APICallError.isInstance(error)) return brokeOff
  const { statusCode, responseBody = '' } = error
  if (statusCode === undefined) {
    return new BusError('unavailable', `${provider} cannot be reached`, { cause: error })
  }
  // The status was a success, so the answer broke off later.
  if (statusCode < 400) return brokeOff
  const says = `${provider} answered ${statusCode}`
  const words = providerWords(responseBody, apiKey)
  const more = words === undefined ? '' : ` (${words})`
  // Gemini answers 400 to a wrong key.
  if (statusCode === 401 || statusCode === 403 || /API_KEY_INVALID/.test(responseBody)) {
    // The text of a 401 repeats only the key.
    const reason = statusCode === 403 ? more : ''
    const message = `${says}: it does not accept the API key${reason}`
    return new BusError('denied', message, { cause: error })
  }
  if (statusCode === 413 || (statusCode === 400 && TOO_LONG.test(responseBody))) {
    // A retry would fail again, unlike one after `exhausted`.
    const message = `${says}: the conversation is too long for it${more}`
    return new BusError('invalid', message, { reason: 'context-overflow', cause: error })
  }
  if (statusCode === 404) {
    return new BusError('not-found', `${says}: it has no such model${more}`, { cause: error })
  }
  if (statusCode === 429) {
    const message = `${says}: its rate limit is reached${more}`
    return new ProviderError('exhausted', message, { ...retryAfter(error), cause: error })
  }
  const code = error.isRetryable ? 'unavailable' : 'invalid'
  const message = words === undefined ? says : `${says}: ${words}`
  return new ProviderError(code, message, { ...retryAfter(error), cause: error })
}

/** The pause that the provider asks for; the header has seconds or a date. */
function retryAfter({ responseHeaders = {} }: APICallError): { retryAfterMs?: number } {
  const exact = Number(responseHeaders['retry-after-ms'] ?? NaN)
  const said = responseHeaders['retry-after'] ?? ''
  const seconds = said.trim() === '' ? NaN : Number(said)
  const retryAfterMs = [exact, seconds * 1_000, Date.parse(said) - Date.now()].find(Number.isFinite)
  return retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(0, retryAfterMs) }
}
