import { APICallError } from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'
import { ProviderError } from '../../provider-error.ts'
import { providerWords } from './provider-words.ts'

/** How providers say, with status 400, that the conversation does not fit into the model. */
const TOO_LONG =
  /context.?(length|window|limit)|maximum (context|prompt)|prompt is too long|too many tokens|input token count\b.*\bexceeds|request.?too.?large/is

/** A provider's failure in words for a user; all that it answered stays in the cause, for the log. */
export function toBusError(provider: string, error: unknown, apiKey = ''): BusError {
  if (error instanceof BusError) return error
  const brokeOff = new BusError('unavailable', `${provider} broke off its answer`, { cause: error })
  if (!APICallError.isInstance(error)) return brokeOff
  const { statusCode, responseBody = '' } = error
  if (statusCode === undefined) {
    return new BusError('unavailable', `${provider} cannot be reached`, { cause: error })
  }
  // The answer had begun well.
  if (statusCode < 400) return brokeOff
  const says = `${provider} answered ${statusCode}`
  const words = providerWords(responseBody, apiKey)
  const more = words === undefined ? '' : ` (${words})`
  // Gemini answers 400 to a wrong key.
  if (statusCode === 401 || statusCode === 403 || /API_KEY_INVALID/.test(responseBody)) {
    // Of a key that is wrong providers say nothing but the key.
    const reason = statusCode === 403 ? more : ''
    const message = `${says}: it does not accept the API key${reason}`
    return new BusError('denied', message, { cause: error })
  }
  if (statusCode === 413 || (statusCode === 400 && TOO_LONG.test(responseBody))) {
    // The same again would fail again, unlike what is exhausted.
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

/** How long the provider wants to be left alone: in seconds, or until a date. */
function retryAfter({ responseHeaders = {} }: APICallError): { retryAfterMs?: number } {
  const exact = Number(responseHeaders['retry-after-ms'] ?? NaN)
  const said = responseHeaders['retry-after'] ?? ''
  const seconds = said.trim() === '' ? NaN : Number(said)
  const retryAfterMs = [exact, seconds * 1_000, Date.parse(said) - Date.now()].find(Number.isFinite)
  return retryAfterMs === undefined ? {} : { retryAfterMs: Math.max(0, retryAfterMs) }
}
