import { APICallError } from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'

/** A provider's failure in words for a user; what it answered stays in the cause, for the log. */
export function toBusError(provider: string, error: unknown): BusError {
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
  // Gemini answers 400 to a wrong key.
  if (statusCode === 401 || statusCode === 403 || /API_KEY_INVALID/.test(responseBody)) {
    return new BusError('denied', `${says}: it does not accept the API key`, { cause: error })
  }
  if (statusCode === 404) {
    return new BusError('not-found', `${says}: it has no such model`, { cause: error })
  }
  if (statusCode === 429) {
    return new BusError('exhausted', `${says}: its rate limit is reached`, { cause: error })
  }
  return new BusError(statusCode < 500 ? 'invalid' : 'unavailable', says, { cause: error })
}
