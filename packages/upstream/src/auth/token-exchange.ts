import { ClientCredentialsProvider, type OAuthClientProvider } from '@modelcontextprotocol/client'

import { askForToken, type TokenTarget } from './ask-for-token.ts'
import { authFetch } from './auth-fetch.ts'
import type { AuthStrategy } from './auth-strategy.ts'
import type { AssertUser } from './oauth/user-logins.ts'
import { TokenSource } from './token-source.ts'

/**
 * The user of the host is the user of the server: the host says who that is, and an authorization server that trusts the
 * host gives a token for it. Nobody logs in.
 */
export interface TokenExchangeAuthConfig {
  readonly type: 'token-exchange'
  /** The URL of the authorization server. */
  readonly issuer: string
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
  /** Says who the user is. Default: as the host does. */
  readonly assert?: AssertUser
}

const OAUTH = 'urn:ietf:params:oauth'

/** Gets tokens for a user by saying who that is. */
export const tokenExchange: AuthStrategy<TokenExchangeAuthConfig> = {
  open(config, deps, url) {
    const { issuer, clientId, clientSecret, assert = deps.logins?.assert } = config
    if (assert === undefined) throw new Error('this host cannot say who its users are')
    if (clientSecret !== undefined) deps.onToken(clientSecret)
    const fetchFn = authFetch(deps, [url, issuer])
    const prepare = async (target: TokenTarget): Promise<OAuthClientProvider> => {
      const assertion = await assert({ audience: issuer, clientId, ...target })
      deps.onToken(assertion)
      const me = { clientId, clientSecret: clientSecret ?? '', expectedIssuer: issuer }
      const provider = new ClientCredentialsProvider(me)
      return Object.assign(provider, {
        prepareTokenRequest: (scope?: string) => requestOf(config, assertion, scope),
        ...(clientSecret === undefined && {
          clientInformation: () => ({ client_id: clientId, issuer }),
        }),
      })
    }
    return new TokenSource(async ({ challenge }) => {
      const token = await askForToken(config, { url, challenge, fetchFn }, prepare)
      deps.onToken(token.value)
      return token
    })
  },
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
