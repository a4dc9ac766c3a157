import { ClientCredentialsProvider, type OAuthClientProvider } from '@modelcontextprotocol/client'

import { askForToken, type TokenTarget } from './ask-for-token.ts'
import { authFetch } from './auth-fetch.ts'
import type { AuthStrategy } from './auth-strategy.ts'
import { configuredAddresses } from './oauth/named-server.ts'
import type { AssertUser } from './oauth/user-logins.ts'
import { TokenSource } from './token-source.ts'

/**
 * The user of the host is the user of the server: the host signs an assertion about the user, and an authorization server
 * that trusts the host exchanges it for a token. Nobody logs in.
 */
export interface TokenExchangeAuthConfig {
  readonly type: 'token-exchange'
  /** The URL of the authorization server. */
  readonly issuer: string
  /** The URL at which it gives tokens, for one that publishes no metadata. */
  readonly tokenEndpoint?: string
  readonly clientId: string
  readonly clientSecret?: string
  /**
   * `token-exchange`, the default: RFC 8693. `jwt-bearer`: RFC 7523, with what the authorization grants of identity
   * providers have (ID-JAG).
   */
  readonly grant?: 'token-exchange' | 'jwt-bearer'
  /** The name of the server at the authorization server, for `token-exchange`, where it is not its address. */
  readonly audience?: string
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string
  /** Does not name the address of the server to the authorization server (RFC 8707), which some refuse. */
  readonly omitResource?: boolean
  /** For distributed hosts: the user by whose token the tools are listed, as `user:ann`. */
  readonly listAs?: string
  /** Signs an assertion about the user. Default: as the host does. */
  readonly assert?: AssertUser
}

const OAUTH = 'urn:ietf:params:oauth'

/** Gets tokens for a user by an assertion about the user. */
export const tokenExchange: AuthStrategy<TokenExchangeAuthConfig> = {
  open(config, deps, url) {
    const { issuer, clientId, clientSecret, assert = deps.logins?.assert } = config
    const { onToken } = deps
    if (assert === undefined) throw new Error('this host cannot sign assertions about its users')
    const fetchFn = authFetch(deps, [url, ...configuredAddresses(config)])
    const prepare = async (target: TokenTarget): Promise<OAuthClientProvider> => {
      if (clientSecret !== undefined) onToken(clientSecret)
      const assertion = await assert({ audience: issuer, clientId, ...target })
      return new AssertionProvider(config, assertion)
    }
    return new TokenSource(
      ({ challenge }) => askForToken(config, { url, challenge, fetchFn, onToken }, prepare),
      deps.onAsked,
    )
  },
}

/** The credentials of the host with an assertion about a user. */
class AssertionProvider extends ClientCredentialsProvider {
  readonly #config: TokenExchangeAuthConfig
  readonly #assertion: string

  constructor(config: TokenExchangeAuthConfig, assertion: string) {
    const { clientId, clientSecret = '', issuer: expectedIssuer } = config
    super({ clientId, clientSecret, expectedIssuer })
    this.#config = config
    this.#assertion = assertion
  }

  override clientInformation(): ReturnType<ClientCredentialsProvider['clientInformation']> {
    const { clientId, clientSecret, issuer } = this.#config
    return clientSecret === undefined ? { client_id: clientId, issuer } : super.clientInformation()
  }

  override prepareTokenRequest(scope?: string): URLSearchParams {
    return requestOf(this.#config, this.#assertion, scope)
  }
}

function requestOf(
  { grant = 'token-exchange', audience }: TokenExchangeAuthConfig,
  assertion: string,
  scope: string | undefined,
): URLSearchParams {
  const common = scope === undefined ? {} : { scope }
  if (grant === 'jwt-bearer') {
    return new URLSearchParams({
      grant_type: `${OAUTH}:grant-type:jwt-bearer`,
      assertion,
      ...common,
    })
  }
  return new URLSearchParams({
    grant_type: `${OAUTH}:grant-type:token-exchange`,
    subject_token: assertion,
    subject_token_type: `${OAUTH}:token-type:jwt`,
    requested_token_type: `${OAUTH}:token-type:access_token`,
    ...(audience === undefined ? {} : { audience }),
    ...common,
  })
}
