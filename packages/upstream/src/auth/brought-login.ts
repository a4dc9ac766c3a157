import type { OAuthTokens } from '@modelcontextprotocol/client'

import { challengeOf, isTokenRefused, type LoginServer, protectedServerOf } from './login-server.ts'
import type { AuthorizationServer } from './oauth/authorization-server.ts'
import { findAuthorizationServer, resourceOf } from './oauth/authorization-server.ts'
import { checkBearer } from './oauth/check-bearer.ts'
import { completeLogin, type CompleteLogin, withOfflineAccess } from './oauth/login.ts'

/** The tokens that a user or a program of the user got at an authorization server, or an API key of the user. */
export interface BroughtTokens {
  readonly tokens: OAuthTokens
  /** The client for which they were issued. Needed beside a refresh token where the configuration names none. */
  readonly clientId?: string | undefined
}

/** What a program needs to get tokens for a server by itself. */
export interface LoginDescription {
  readonly issuer: string
  readonly authorizationEndpoint?: string | undefined
  readonly tokenEndpoint?: string | undefined
  /** Where a device without a browser begins (RFC 8628). */
  readonly deviceAuthorizationEndpoint?: string | undefined
  readonly registrationEndpoint?: string | undefined
  /** The client of the configuration. */
  readonly clientId?: string | undefined
  /** The scopes to ask for, separated by spaces. */
  readonly scope?: string | undefined
  /** The name of the server at the authorization server (RFC 8707). */
  readonly resource?: string | undefined
}

interface Found {
  readonly at: AuthorizationServer
  /** The scopes that are asked for. */
  readonly scope: string | undefined
  readonly resource: string | undefined
}

/** Says how tokens for a server are got. Throws when its authorization server is not found. */
export async function describeLogin(server: LoginServer): Promise<LoginDescription> {
  const { at, scope, resource } = await find(server)
  const { metadata } = at
  // A field of RFC 8628, whose type is not in the schema.
  const device: unknown = Object(metadata).device_authorization_endpoint
  return {
    issuer: at.issuer,
    authorizationEndpoint: metadata?.authorization_endpoint,
    tokenEndpoint: metadata?.token_endpoint,
    deviceAuthorizationEndpoint: typeof device === 'string' ? device : undefined,
    registrationEndpoint: metadata?.registration_endpoint,
    clientId: server.auth.clientId,
    scope: scope && withOfflineAccess(scope, metadata),
    resource,
  }
}

/** Makes a login of tokens. Throws when the server refuses them, or when they could not be refreshed. */
export async function takeLogin(
  server: LoginServer,
  { tokens, clientId }: BroughtTokens,
): Promise<CompleteLogin> {
  const { auth, isProgram, url } = server
  const id = auth.clientId ?? clientId
  const { origin } = new URL(url)
  checkBearer(origin, tokens)
  if (!isProgram && (await isTokenRefused(server, tokens.access_token))) {
    throw new Error('the server refuses this token')
  }
  const found = await find(server).catch((error: unknown) => {
    // An API key has no authorization server.
    if (tokens.refresh_token !== undefined) throw error
  })
  if (tokens.refresh_token !== undefined && id === undefined) {
    throw new Error('a refresh token needs the client_id for which it was issued')
  }
  const issuer = found?.at.issuer ?? auth.issuer ?? new URL('/', url).href
  const secret = auth.clientSecret === undefined ? {} : { client_secret: auth.clientSecret }
  const client = { client_id: id ?? '', ...secret }
  const { scope = found?.scope } = tokens
  return completeLogin({ issuer, client, scope, resource: found?.resource }, tokens)
}

async function find(server: LoginServer): Promise<Found> {
  const { auth, isProgram } = server
  const challenge = isProgram ? {} : await challengeOf(server)
  const at = protectedServerOf(server, challenge)
  const about = isProgram ? undefined : await resourceOf(at)
  const named = auth.issuer === undefined ? about?.authorization_servers : [auth.issuer]
  return {
    at: await findAuthorizationServer(at, named),
    scope: auth.scope ?? challenge.scope ?? about?.scopes_supported?.join(' '),
    resource: auth.omitResource === true ? undefined : about?.resource,
  }
}
