import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client'
import {
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'

import { checkBearer } from './check-bearer.ts'
import type { GuardedFetch } from '../../proxy/guarded-fetch.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import type { RegistrationStore } from './registration-store.ts'

/** What identifies this host at authorization servers. */
export interface LoginClient {
  /** Where browsers are sent after a login. */
  readonly redirectUrl: string
  /** The name that users see. */
  readonly name: string
  /** A registration that was made beforehand. */
  readonly registered?: { readonly clientId: string; readonly clientSecret?: string } | undefined
  /** The address of the metadata document of the client, which replaces a registration. */
  readonly metadataUrl?: string | undefined
  /** Keeps registrations that were made by logins. */
  readonly registrations?: RegistrationStore | undefined
}

/** A login that waits for the return of its user. */
export interface PendingLogin {
  readonly issuer: string
  readonly client: OAuthClientInformationMixed
  readonly redirectUrl: string
  /** Tells the answers to logins apart; unguessable. */
  readonly state: string
  /** The secret of PKCE (RFC 7636). */
  readonly verifier: string
  readonly scope?: string | undefined
  /** The server for which tokens are asked (RFC 8707). */
  readonly resource?: string | undefined
}

/** A login that is complete. */
export interface CompleteLogin {
  readonly issuer: string
  readonly client: OAuthClientInformationMixed
  readonly tokens: OAuthTokens
  /** Epoch milliseconds at which the access token expires; absent if it is not known. */
  readonly expiresAt?: number | undefined
  /** The scopes that were asked for. */
  readonly scope?: string | undefined
  readonly resource?: string | undefined
}

interface Wanted {
  readonly scope: string | undefined
  readonly resource: string | undefined
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/**
 * The registration of the host at an authorization server: the one made beforehand, else by a metadata document, else one
 * that is made now. Throws where none is possible.
 */
export async function clientAt(
  { issuer, metadata }: AuthorizationServer,
  { registered, metadataUrl, redirectUrl, name, registrations }: LoginClient,
  fetchFn: GuardedFetch,
): Promise<OAuthClientInformationMixed> {
  if (registered !== undefined) {
    const { clientId, clientSecret } = registered
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    }
  }
  if (metadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true) {
    return { client_id: metadataUrl }
  }
  const remedy = `register it there, with the redirect address ${redirectUrl}, and set its clientId`
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new Error(`${issuer} does not register this host by itself: ${remedy}`)
  }
  const known = await registrations?.load(issuer)
  if (known !== undefined) return known
  const clientMetadata = {
    client_name: name,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isLoopback(new URL(redirectUrl)) ? 'native' : 'web',
  }
  // Without scopes, since a later login may ask for others.
  const made = await registerClient(issuer, {
    clientMetadata,
    fetchFn,
    ...(metadata && { metadata }),
  }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${issuer} did not register this host: ${remedy} (${reason})`, { cause })
  })
  await registrations?.save(issuer, made)
  return made
}

/** Begins a login: the address for the user's browser, and what its end needs. */
export async function beginLogin(
  { issuer, metadata }: AuthorizationServer,
  client: OAuthClientInformationMixed,
  redirectUrl: string,
  { scope, resource, parameters = {} }: Wanted,
): Promise<{ readonly url: URL; readonly pending: PendingLogin }> {
  // The protocol demands PKCE, and this field is how a server says that it has it.
  if (metadata !== undefined && metadata.code_challenge_methods_supported === undefined) {
    throw new Error(`${issuer} does not say that it supports PKCE (RFC 7636)`)
  }
  const state = randomText()
  const { authorizationUrl: url, codeVerifier: verifier } = await startAuthorization(issuer, {
    clientInformation: client,
    redirectUrl,
    state,
    ...(metadata && { metadata }),
    ...(scope === undefined ? {} : { scope: withOfflineAccess(scope, metadata) }),
    ...(resource === undefined ? {} : { resource }),
  })
  for (const [name, value] of Object.entries(parameters)) {
    if (!url.searchParams.has(name)) url.searchParams.set(name, value)
  }
  // A browser opens this address. A public server must not choose one on the machine of the user.
  if (url.protocol !== 'https:' && !(isLoopback(url) && isLoopback(new URL(issuer)))) {
    throw new Error(`${issuer} has its page for logins at ${url.protocol}//`)
  }
  return { url, pending: { issuer, client, redirectUrl, state, verifier, scope, resource } }
}

/**
 * Ends a login by the address to which the user's browser was sent. Throws for an answer to another login, and for one of
 * another authorization server (RFC 9207).
 */
export async function finishLogin(
  { metadata }: AuthorizationServer,
  { issuer, client, redirectUrl, state, verifier, scope, resource }: PendingLogin,
  returned: URL,
  fetchFn: GuardedFetch,
): Promise<CompleteLogin> {
  const { searchParams } = returned
  if (searchParams.get('state') !== state) throw new Error('the answer belongs to another login')
  const iss = searchParams.get('iss') ?? undefined
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  })
  const refusal = searchParams.get('error')
  if (refusal !== null) throw new Error(`${issuer} refused the login: ${refusal}`)
  const code = searchParams.get('code')
  if (code === null) throw new Error(`${issuer} sent the user back without a code`)
  const tokens = await exchangeAuthorization(issuer, {
    clientInformation: client,
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    fetchFn,
    ...(iss === undefined ? {} : { iss }),
    ...(metadata && { metadata }),
    ...(resource === undefined ? {} : { resource }),
  })
  return completeLogin({ issuer, client, scope, resource }, tokens)
}

/** Replaces the access token. Throws `OAuthError` `invalid_grant` when the login is over. */
export async function refreshLogin(
  { metadata }: AuthorizationServer,
  login: CompleteLogin,
  refreshToken: string,
  fetchFn: GuardedFetch,
): Promise<CompleteLogin> {
  const { issuer, client, resource } = login
  const tokens = await refreshAuthorization(issuer, {
    clientInformation: client,
    refreshToken,
    fetchFn,
    ...(metadata && { metadata }),
    ...(resource === undefined ? {} : { resource }),
  })
  return completeLogin(login, tokens)
}

/** A login by the answer of an authorization server. Throws when its token cannot be sent. */
export function completeLogin(
  { issuer, client, scope, resource }: Omit<CompleteLogin, 'tokens'>,
  tokens: OAuthTokens,
): CompleteLogin {
  checkBearer(issuer, tokens)
  const { expires_in: seconds } = tokens
  const expiresAt = seconds === undefined ? undefined : Date.now() + seconds * 1_000
  return { issuer, client, tokens, expiresAt, scope, resource }
}

/** Asks for refresh tokens too, where the authorization server has a scope for them. */
export function withOfflineAccess(
  scope: string,
  metadata: AuthorizationServer['metadata'],
): string {
  const scopes = scope.split(' ')
  const isOffered = metadata?.scopes_supported?.includes('offline_access') === true
  return isOffered && !scopes.includes('offline_access') ? `${scope} offline_access` : scope
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

function randomText(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
}
