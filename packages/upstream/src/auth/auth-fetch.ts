import type { GuardedFetch } from '../proxy/guarded-fetch.ts'
import { guardedFetch } from '../proxy/guarded-fetch.ts'
import type { AuthDeps } from './auth-strategy.ts'

const LIMITS = { timeoutMs: 15_000, maxBytes: 256 * 1024 }

/**
 * The requests to authorization servers. `configured`: addresses from the configuration, which may be internal ones;
 * what those name may not.
 */
export function authFetch(
  { proxyFor }: Pick<AuthDeps, 'proxyFor'>,
  configured: readonly string[],
): GuardedFetch {
  return guardedFetch({ trusted: configured, proxyFor, ...LIMITS })
}
