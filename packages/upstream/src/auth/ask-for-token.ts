import {
  discoverAuthorizationServerMetadata,
  fetchToken,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'

import type { AuthDeps } from './auth-strategy.ts'
import { checkBearer } from './oauth/check-bearer.ts'
import { type ProtectedServer, resourceOf } from './oauth/authorization-server.ts'
import { describedServer } from './oauth/named-server.ts'
import type { AccessToken } from './token-source.ts'

interface TokenWish {
  /** The URL of the authorization server. */
  readonly issuer: string
  /** The URL at which it gives tokens, for one that publishes no metadata. */
  readonly tokenEndpoint?: string | undefined
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string | undefined
  /** Does not name the server to the authorization server (RFC 8707). */
  readonly omitResource?: boolean | undefined
}

/** What a token is asked for. */
export interface TokenTarget {
  readonly resource: string | undefined
  readonly scope: string | undefined
}

/**
 * Asks an authorization server for a token without a page for the user. `prepare`: the credentials of the host, which may
 * depend on what the token is for. Errors say which authorization server gave none.
 */
export async function askForToken(
  { issuer, tokenEndpoint, omitResource, ...wish }: TokenWish,
  { onToken, ...server }: ProtectedServer & Pick<AuthDeps, 'onToken'>,
  prepare: (target: TokenTarget) => Promise<OAuthClientProvider>,
): Promise<AccessToken> {
  const { fetchFn, challenge } = server
  try {
    const described = describedServer({ issuer, ...(tokenEndpoint && { tokenEndpoint }) })
    const metadata =
      described?.metadata ?? (await discoverAuthorizationServerMetadata(issuer, { fetchFn }))
    if (metadata === undefined) throw new Error('it publishes no metadata (RFC 8414)')
    const isSettled = omitResource === true && wish.scope !== undefined
    const about = isSettled ? undefined : await resourceOf(server)
    const resource = omitResource === true ? undefined : about?.resource
    const scope = wish.scope ?? challenge.scope ?? about?.scopes_supported?.join(' ')
    const provider = await prepare({ resource, scope })
    const tokens = await fetchToken(provider, issuer, {
      metadata,
      fetchFn,
      ...(resource === undefined ? {} : { resource }),
      ...(scope === undefined ? {} : { scope }),
    })
    checkBearer(issuer, tokens)
    const { access_token: value, expires_in: seconds } = tokens
    onToken(value)
    return { value, lifeMs: seconds === undefined ? Infinity : seconds * 1_000 }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the authorization server ${issuer} gave no token: ${reason}`, { cause: error })
  }
}
