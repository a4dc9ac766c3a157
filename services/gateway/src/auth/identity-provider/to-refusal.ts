import { AuthError } from '@mcp-host/auth'
import { BusError } from '@mcp-host/contracts'
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'

/** Error codes of the library for a provider that does not answer, or answers against the protocol. */
const AWAY = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
])

/**
 * Converts an error of a login: `denied` when the provider or a check refused the user, `unavailable` when the provider
 * does not work. The provider's texts are not shown to the user.
 */
export function toRefusal(error: unknown): BusError {
  if (error instanceof AuthError) return new BusError('denied', error.message, { cause: error })
  if (error instanceof BusError) return error
  if (error instanceof AuthorizationResponseError) {
    const isAway = error.error === 'temporarily_unavailable' || error.error === 'server_error'
    return isAway ? providerAway(error) : denied(nameOf(error.error), error)
  }
  if (error instanceof ResponseBodyError) {
    return error.status >= 500 ? providerAway(error) : denied(nameOf(error.error), error)
  }
  // Errors without a code are errors of the connection, not findings of the library.
  if (error instanceof ClientError && error.code !== undefined && !AWAY.has(error.code)) {
    return denied(error.message, error)
  }
  return providerAway(error)
}

function denied(reason: string, cause: unknown): BusError {
  return new BusError('denied', `the identity provider did not log you in: ${reason}`, { cause })
}

/** The error for a provider that does not answer, or not as an OpenID provider. */
export function providerAway(cause: unknown): BusError {
  const message = 'the identity provider does not answer as it should; try again'
  return new BusError('unavailable', message, { cause })
}

/** An error code of RFC 6749. The provider may send any value. */
function nameOf(code: string): string {
  return /^\w{1,40}$/.test(code) ? code : 'refused'
}
