import { describeCause } from '../errors/describe-cause.ts'
import type { GuardedFetch } from '../proxy/guarded-fetch.ts'
import { guardedFetch } from '../proxy/guarded-fetch.ts'
import type { AuthDeps } from './auth-strategy.ts'

const LIMITS = { timeoutMs: 15_000, maxBytes: 256 * 1024 }
/** The limit for the body of an error, which becomes part of messages. */
const MAX_ERROR_LENGTH = 4_096

/**
 * The requests to authorization servers. `configured`: addresses from the configuration, which may be internal ones;
 * what those name may not.
 */
export function authFetch(
  { proxyFor }: Pick<AuthDeps, 'proxyFor'>,
  configured: readonly string[],
): GuardedFetch {
  const send = guardedFetch({ trusted: configured, proxyFor, ...LIMITS })
  return async (...request) => {
    const response = await send(...request).catch((cause: unknown) => {
      throw hasSystemCode(cause) ? new Error(awayText(request[0], cause), { cause }) : cause
    })
    if (response.ok || response.body === null) return response
    const { status, headers } = response
    return new Response((await response.text()).slice(0, MAX_ERROR_LENGTH), { status, headers })
  }
}

/** Whether the network is the cause, and not an address that may not be asked. */
function hasSystemCode(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('syscall' in cause) return true
  }
  return false
}

function awayText(input: string | URL | Request, error: unknown): string {
  const { origin } = new URL(input instanceof Request ? input.url : input)
  return `${origin} does not answer (${describeCause(error)})`
}
