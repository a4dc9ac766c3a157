import { APICallError } from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'

/** A provider's failure in words for a user; what it answered stays in the cause, for the log. */
export function toBusError(provider: string, error: unknown): BusError {
  if (error instanceof BusError) return error
  if (!APICallError.isInstance(error)) {
    return new BusError('unavailable', `${provider} broke off its answer`, { cause: error })
  }
  const { statusCode } = error
  if (statusCode === undefined) {
    return new BusError('unavailable', `${provider} cannot be reached`, { cause: error })
  }
  const says = `${provider} answered ${statusCode}`
  if (statusCode === 401 || statusCode === 403) {
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
