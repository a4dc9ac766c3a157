import type { Makers, VerifiedToken } from '@mcp-host/auth'
import {
  AuthError,
  holderOfKey,
  holdersOfKey,
  issuerOf,
  OidcVerifier,
  parseApiKey,
  principalOfKey,
  TokenCache,
} from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import type { Config } from '@mcp-host/service'
import type { Credential } from './credential.ts'
import type { authSettings } from './auth-settings.ts'
import type { MakerCheck } from './maker-check.ts'
import type { PublicAddress } from './public-address.ts'
import type { BrowserRequest, LoginSessions } from './session/login-sessions.ts'

/** The longest time for which a verified token is cached, since its grant may be revoked. */
const MAX_CACHED_MS = 5 * 60_000
const BEARER = /^Bearer +([^\s,]+) *$/i

type AuthConfig = Omit<Config<typeof authSettings>, 'publicUrl'>

/** Verifies the tokens of an issuer. */
export interface TokenAuthority {
  /** The addresses of the issuer. */
  readonly issuers: readonly string[]
  /** Rejects with `AuthError`, or `unavailable` when the issuer does not answer. */
  verify(token: string): Promise<VerifiedToken>
  /** The principal of a token that was verified earlier. Throws `AuthError` when the token has been revoked. */
  principalOf(verified: VerifiedToken): Principal
}

/** The logins of browsers, as far as authentication needs them. */
export type LoginCheck = Pick<LoginSessions, 'authenticate' | 'credentialOf' | 'principalOf'>

/** Finds the principal of a request. */
export interface Authenticator {
  /** Whether clients must authenticate. */
  readonly isOn: boolean
  /** Address by which clients reach this host, without a slash at its end. */
  readonly publicUrl: string
  /** All addresses of this host. */
  readonly origins: readonly string[]
  /** The authorization servers for clients that know this host by a name. */
  authorizationServers(host: string | undefined): readonly string[]
  /**
   * The principal of a request for a path, usually without a promise. Throws, or rejects with, `AuthError`;
   * `unavailable` when an identity provider does not answer.
   */
  authenticate(request: BrowserRequest, path: string): Principal | Promise<Principal>
  /** The credential of a request that `authenticate` has just accepted; `undefined` where clients need none. */
  credentialOf(request: BrowserRequest): Credential | undefined
  /** The principal of a credential, from watched records; `undefined` when the credential is not valid any more. */
  principalOf(credential: Credential): Principal | undefined
  /** The makers of what a request makes: its principal and, where its credential is a key, the key with its holders. */
  makersOf(request: BrowserRequest, principal: Principal): Makers
  /** See `MakerCheck`. */
  areInOrder(makers: Makers, role?: string): boolean
  /** The address of a path under the host name that the client uses. */
  urlOf(path: string, host: string | undefined): string
}

export interface AuthenticatorDeps {
  readonly makers: MakerCheck
  /** Verifies tokens of the accounts of this host. */
  readonly localTokens?: TokenAuthority | undefined
  readonly logins?: LoginCheck | undefined
  /** Called with the principal of each token that is seen for the first time. */
  readonly onLogin: (principal: Principal) => void
}

/** Of a key that was revoked during its request: what it makes counts for nothing, since the key itself is a maker. */
const NO_HOLDERS: Makers = { principals: [], keys: [] }

/** Creates the authenticator that the setting `AUTH` selects. */
export function createAuthenticator(
  { makers, localTokens, logins, onLogin }: AuthenticatorDeps,
  config: AuthConfig,
  address: PublicAddress,
): Authenticator {
  if (config.auth.includes('none')) return openDoor(address.publicUrl)
  const oidc = config.auth.includes('oidc') ? oidcAuthority(makers, config, address) : undefined
  const authorities = config.auth.flatMap(
    (method) => (method === 'local' ? localTokens : method === 'oidc' ? oidc : undefined) ?? [],
  )
  return new CredentialCheck({ makers, authorities, logins, onLogin }, config, address)
}

/** The authenticator of `AUTH=none`: every client is the local admin. */
export function openDoor(publicUrl: string): Authenticator {
  return {
    isOn: false,
    publicUrl,
    origins: [publicUrl],
    authorizationServers: () => [],
    authenticate: () => LOCAL,
    credentialOf: () => undefined,
    principalOf: () => LOCAL,
    makersOf: () => ({ principals: [LOCAL.id], keys: [] }),
    areInOrder: () => true,
    urlOf: (path) => publicUrl + path,
  }
}

function oidcAuthority(
  makers: MakerCheck,
  { oidcIssuer, oidcAudience, oidcRolesClaim, oidcUserClaim, oidcTokenType, ...more }: AuthConfig,
  { origins }: PublicAddress,
): TokenAuthority | undefined {
  if (oidcIssuer === undefined) return undefined
  const verifier = new OidcVerifier({
    issuer: oidcIssuer,
    isAudience: (audience) =>
      origins.some((origin) => audience.startsWith(origin)) || oidcAudience.includes(audience),
    rolesClaim: oidcRolesClaim,
    defaultRoles: more.defaultRoles,
    defaultScopes: more.oidcDefaultScopes,
    userClaim: oidcUserClaim,
    prefix: 'oidc',
    tokenType: oidcTokenType,
  })
  return {
    issuers: [oidcIssuer],
    verify: (token) => verifier.verify(token),
    principalOf(verified) {
      if (!verifier.isKeyCurrent(verified)) {
        throw new AuthError('invalid_token', 'the key of the token is not in use any more')
      }
      if (!makers.isDisabled(verified.principal)) return verified.principal
      throw new AuthError('invalid_token', 'the user of the token is disabled at this host')
    },
  }
}

interface Credentials {
  readonly makers: MakerCheck
  readonly authorities: readonly TokenAuthority[]
  readonly logins: LoginCheck | undefined
  readonly onLogin: (principal: Principal) => void
}

interface KnownToken {
  readonly verified: VerifiedToken
  readonly authority: TokenAuthority
}

class CredentialCheck implements Authenticator {
  readonly isOn = true
  readonly publicUrl: string
  readonly origins: readonly string[]
  readonly #credentials: Credentials
  readonly #tokens = new TokenCache<KnownToken>()
  /** Audiences of tokens that every path accepts. */
  readonly #audiences: ReadonlySet<string>

  constructor(
    credentials: Credentials,
    { oidcAudience }: AuthConfig,
    { publicUrl, origins }: PublicAddress,
  ) {
    this.publicUrl = publicUrl
    this.origins = origins
    this.#credentials = credentials
    this.#audiences = new Set([
      ...origins.flatMap((origin) => [origin, `${origin}/`, `${origin}/mcp`]),
      ...oidcAudience,
    ])
  }

  authenticate(request: BrowserRequest, path: string): Principal | Promise<Principal> {
    const { authorization } = request.headers
    if (authorization === undefined) {
      const found = this.#credentials.logins?.authenticate(request)
      if (found !== undefined) return found
      throw new AuthError('missing', 'authenticate with Authorization: Bearer <key or token>')
    }
    const token = BEARER.exec(authorization)?.[1]
    if (token === undefined) {
      throw new AuthError('invalid_token', 'Authorization must be Bearer <key or token>')
    }
    const key = parseApiKey(token)
    if (key !== undefined) return this.#principalOfKey(key)
    const known = this.#tokens.get(token)
    if (known !== undefined) return this.#forPath(known, path)
    const authority = this.#authorityOf(token)
    return authority.verify(token).then((verified) => {
      const until = Math.min(verified.expiresAt, Date.now() + MAX_CACHED_MS)
      this.#tokens.set(token, { verified, authority }, until)
      const principal = this.#forPath({ verified, authority }, path)
      this.#credentials.onLogin(principal)
      return principal
    })
  }

  credentialOf({ headers }: BrowserRequest): Credential | undefined {
    const { authorization } = headers
    if (authorization === undefined) {
      const found = this.#credentials.logins?.credentialOf(headers)
      if (found === undefined) return undefined
      const { key, idToken: _, ...login } = found
      return { kind: 'login', key, login }
    }
    const token = BEARER.exec(authorization)?.[1] ?? ''
    const id = parseApiKey(token)?.id
    if (id !== undefined) return { kind: 'key', id }
    const verified = this.#tokens.get(token)?.verified
    if (verified === undefined) return undefined
    const audiences = [...verified.audiences]
    return { kind: 'token', issuer: issuerOf(token) ?? '', verified: { ...verified, audiences } }
  }

  principalOf(credential: Credential): Principal | undefined {
    const { makers, authorities, logins } = this.#credentials
    if (credential.kind === 'login') {
      return logins?.principalOf({ ...credential.login, key: credential.key })
    }
    if (credential.kind === 'key') {
      const record = makers.keyOf(credential.id)
      return record && holderOfKey(record, Date.now())
    }
    const { issuer, verified } = credential
    const authority = authorities.find(({ issuers }) => issuers.includes(issuer))
    if (authority === undefined || verified.expiresAt <= Date.now()) return undefined
    try {
      return authority.principalOf(verified)
    } catch (error) {
      if (error instanceof AuthError) return undefined
      throw error
    }
  }

  makersOf(request: BrowserRequest, { id }: Principal): Makers {
    const credential = this.credentialOf(request)
    if (credential?.kind !== 'key') return { principals: [id], keys: [] }
    const record = this.#credentials.makers.keyOf(credential.id)
    const { principals, keys } = record === undefined ? NO_HOLDERS : holdersOfKey(record)
    return { principals: [...new Set([...principals, id])], keys: [...keys, credential.id] }
  }

  areInOrder(makers: Makers, role?: string): boolean {
    return this.#credentials.makers.areInOrder(makers, role)
  }

  authorizationServers(host: string | undefined): readonly string[] {
    const own = this.urlOf('', host)
    return this.#credentials.authorities.flatMap(
      ({ issuers }) => issuers.find((each) => each === own) ?? issuers[0] ?? [],
    )
  }

  urlOf(path: string, host: string | undefined): string {
    const origin = this.origins.find((each) => each.endsWith(`://${host}`)) ?? this.publicUrl
    return origin + path
  }

  #authorityOf(token: string): TokenAuthority {
    const [only, ...others] = this.#credentials.authorities
    if (only === undefined) {
      throw new AuthError('invalid_token', 'this is no API key, and no other tokens are accepted')
    }
    if (others.length === 0) return only
    const issuer = issuerOf(token) ?? ''
    return this.#credentials.authorities.find(({ issuers }) => issuers.includes(issuer)) ?? only
  }

  #principalOfKey({ id, secret }: { readonly id: string; readonly secret: string }): Principal {
    const record = this.#credentials.makers.keyOf(id)
    const principal = record && principalOfKey(record, secret, Date.now())
    if (principal !== undefined) return principal
    const message = this.#credentials.makers.hasKeys
      ? 'this API key is not valid'
      : 'API keys are off at this host; the setting AUTH turns them on, such as AUTH=local,keys'
    throw new AuthError('invalid_token', message)
  }

  /** The principal of a token on a path. A token for one server or bundle is accepted only there. */
  #forPath({ verified, authority }: KnownToken, path: string): Principal {
    const isMeant = verified.audiences.some(
      (each) => this.#audiences.has(each) || this.origins.some((origin) => each === origin + path),
    )
    if (isMeant) return authority.principalOf(verified)
    throw new AuthError('invalid_token', 'the token was issued for another resource')
  }
}
