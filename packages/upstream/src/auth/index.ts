import type { AuthDeps, AuthStrategy } from './auth-strategy.ts'
import { bearer } from './bearer.ts'
import { clientCredentials } from './client-credentials.ts'
import { oauth } from './oauth.ts'
import { tokenExchange } from './token-exchange.ts'
import type { TokenProvider } from './authorized-fetch.ts'

const STRATEGIES = {
  bearer,
  'client-credentials': clientCredentials,
  oauth,
  'token-exchange': tokenExchange,
}

type ConfigOf<Strategy> = Strategy extends AuthStrategy<infer Config> ? Config : never

/** How the tokens for a remote server are got. */
export type AuthConfig = ConfigOf<(typeof STRATEGIES)[keyof typeof STRATEGIES]>

/** The provider of tokens for one connection; `undefined` without a strategy: the server gets its `headers` alone. */
export function authProviderOf(
  { auth, url }: { readonly auth?: AuthConfig | undefined; readonly url: string },
  deps: AuthDeps,
): TokenProvider | undefined {
  return auth && strategyOf(auth).open(auth, deps, url)
}

/** The strategy of a configuration. It takes configurations of that type. */
function strategyOf({ type }: Pick<AuthConfig, 'type'>): AuthStrategy<AuthConfig> {
  return STRATEGIES[type]
}
