import type { OAuthTokens } from '@modelcontextprotocol/client'
import {
  exchangeAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client'

const redirectUrl = 'http://localhost:8123/back'

/** Gets tokens as a program of a user does that does not know this host. `described`: as the API tells it. */
export async function authorize(
  described: Readonly<Record<string, string>>,
  login: (page: URL) => Promise<URL>,
): Promise<{ readonly tokens: OAuthTokens; readonly clientId: string }> {
  const { issuer = '', authorizationEndpoint = '', tokenEndpoint = '' } = described
  const { registrationEndpoint = '', scope = '', resource = '' } = described
  const metadata = {
    issuer,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    registration_endpoint: registrationEndpoint,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
  const clientInformation = await registerClient(issuer, {
    metadata,
    clientMetadata: {
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  })
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation,
    redirectUrl,
    resource,
    scope,
    state: 'any',
  })
  authorizationUrl.searchParams.set('prompt', 'consent')
  const back = await login(authorizationUrl)
  const tokens = await exchangeAuthorization(issuer, {
    metadata,
    clientInformation,
    codeVerifier,
    resource,
    redirectUri: redirectUrl,
    authorizationCode: back.searchParams.get('code') ?? '',
    iss: back.searchParams.get('iss') ?? '',
  })
  return { tokens, clientId: clientInformation.client_id }
}
