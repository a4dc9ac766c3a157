import type { LoginServer } from './login-server.ts'
import { challengeOf, fetchOf, protectedServerOf } from './login-server.ts'
import { wishOf } from './oauth.ts'
import type { AuthorizationServer } from './oauth/authorization-server.ts'
import { findAuthorizationServer, resourceOf } from './oauth/authorization-server.ts'
import type { CompleteLogin, PendingLogin } from './oauth/login.ts'
import { finishLogin } from './oauth/login.ts'
import { isSameIssuer, prepareLogin } from './oauth/prepare-login.ts'
import type { UserLogins } from './oauth/user-logins.ts'

/** An earlier login of the user at the server. */
export interface EarlierLogin {
  readonly login: CompleteLogin | undefined
  /** Further scopes that the server has demanded, separated by spaces. */
  readonly demanded: string | undefined
}

/** Begins a login of a user whose browser this process does not see. */
export async function beginLoginElsewhere(
  server: LoginServer,
  logins: Omit<UserLogins, 'store' | 'login'>,
  { login, demanded }: EarlierLogin,
): Promise<{ readonly url: URL; readonly pending: PendingLogin }> {
  const { auth, isProgram } = server
  const said = isProgram ? {} : await challengeOf(server)
  const isForMore = login !== undefined && demanded !== undefined
  const challenge = isForMore ? { ...said, scope: demanded, isForMore } : said
  const protectedServer = protectedServerOf(server, challenge)
  const about = isProgram ? undefined : await resourceOf(protectedServer)
  const wish = wishOf({ ...logins, ...auth })
  const { url: page, pending } = await prepareLogin(protectedServer, about, wish, login)
  return { url: page, pending }
}

/** Ends such a login by the address to which the browser of its user came back. */
export async function finishLoginElsewhere(
  server: LoginServer,
  pending: PendingLogin,
  returned: URL,
): Promise<CompleteLogin> {
  const at = await authorizationServerOf(server, pending)
  return finishLogin(at, pending, returned, fetchOf(server))
}

/** Tells the authorization server that a login is over (RFC 7009), where it wants to know. */
export async function revokeLogin(server: LoginServer, login: CompleteLogin): Promise<void> {
  const { metadata } = await authorizationServerOf(server, login)
  // OpenID Connect has it, too, without a type of its own.
  const endpoint: unknown = Object(metadata).revocation_endpoint
  if (typeof endpoint !== 'string') return
  const { client, tokens } = login
  // Not every authorization server ends the one with the other.
  for (const token of [tokens.refresh_token, tokens.access_token]) {
    if (token === undefined) continue
    const body = new URLSearchParams({ token, client_id: client.client_id })
    if (client.client_secret !== undefined) body.set('client_secret', client.client_secret)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetchOf(server)(endpoint, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`${login.issuer} answered ${response.status} to a revocation`)
  }
}

async function authorizationServerOf(
  server: LoginServer,
  { issuer }: Pick<CompleteLogin, 'issuer'>,
): Promise<AuthorizationServer> {
  const isAtServer = issuer === new URL('/', server.url).href
  const { described, ...at } = protectedServerOf(server)
  // The configuration may have changed since the login began.
  const isIt = described !== undefined && isSameIssuer(described.issuer, issuer)
  return isIt ? described : findAuthorizationServer(at, isAtServer ? [] : [issuer])
}
