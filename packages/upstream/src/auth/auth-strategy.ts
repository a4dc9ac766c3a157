import type { Environment } from '@mcp-host/process'
import type { ProxyFor } from '../proxy/proxy-for.ts'
import type { TokenProvider } from './authorized-fetch.ts'
import type { TokenOutcome } from '../metrics/host-metrics.ts'
import type { UserLogins } from './oauth/user-logins.ts'

export interface AuthDeps {
  /** The environment of the host. */
  readonly env: Environment
  /** Called with every token before its first use, so that it can be masked in errors and logs. */
  readonly onToken: (token: string) => void
  /** Called when a token was asked for. */
  readonly onAsked?: ((outcome: TokenOutcome) => void) | undefined
  /** How users log in, where the configuration of a server does not say so. */
  readonly logins?: UserLogins | undefined
  /** The proxy for requests to authorization servers. */
  readonly proxyFor: ProxyFor
}

/**
 * A way to get the tokens for a remote server. A further strategy is a file such as `bearer.ts`, and its line in
 * `index.ts`.
 */
export interface AuthStrategy<Config extends { readonly type: string }> {
  /** The provider of tokens for one connection to the address. Its tokens are bearer tokens (RFC 6750). */
  open(config: Config, deps: AuthDeps, url: string): TokenProvider
}
