import type { Principal } from '@mcp-host/contracts'
import { BusError, PrincipalId, RoleName, Scope } from '@mcp-host/contracts'
import type { JWK, JWTPayload, JWTVerifyGetKey } from 'jose'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
} from 'jose'
import { z } from 'zod'
import { AuthError } from './auth-error.ts'
import { limitedFetch } from './limited-fetch.ts'

/** Only asymmetric algorithms: with a shared key every client could sign, and `none` has no signature. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
]
const CLOCK_TOLERANCE_SECONDS = 30
const DISCOVERY_LIMIT_MS = 5_000
/** The pause before a provider that did not answer is asked again. */
const RETRY_MS = 2_000
const MAX_TOKEN_LENGTH = 16 * 1024

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.url() })

/** The mapping from the claims of a user to a principal. */
export interface ClaimMapping {
  /** URL of the provider, exactly as in its tokens. */
  readonly issuer: string
  /** Dotted path of the claim with the roles. */
  readonly rolesClaim: string
  /** Roles of users whose token has none. */
  readonly defaultRoles: readonly string[]
  /** Scopes of users whose token names no scope of this host. */
  readonly defaultScopes: readonly Scope[]
  /** The claim that identifies a user. */
  readonly userClaim: string
  /** Prefix of principal ids, which separates the users of several authorities. */
  readonly prefix: string
}

export interface OidcOptions extends ClaimMapping {
  /** Whether this host accepts a token for an audience. */
  readonly isAudience: (audience: string) => boolean
  /** `at+jwt` when the provider marks access tokens by RFC 9068; id tokens are then refused. */
  readonly tokenType?: string | undefined
  /** The public keys of the provider. By default they are fetched from it. */
  readonly keys?: () => PublicKeys
  readonly fetch?: typeof fetch
  readonly now?: () => number
}

/** Public keys by RFC 7517. */
export interface PublicKeys {
  readonly keys: readonly JWK[]
}

/** A verified token. */
export interface VerifiedToken {
  readonly principal: Principal
  readonly audiences: readonly string[]
  /** Epoch milliseconds. */
  readonly expiresAt: number
  readonly claims: JWTPayload
  /** The id of the signing key, if the token names it. */
  readonly keyId?: string | undefined
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

/** Verifies bearer tokens of one OpenID Connect provider. Its keys are fetched at the first use. */
export class OidcVerifier {
  readonly #options: OidcOptions
  #keys: Promise<RemoteKeys> | undefined
  /** The key set of the provider, once it is fetched. */
  #remote: RemoteKeys | undefined
  /** The key set built from the given keys, until they change. */
  #given: { readonly keys: PublicKeys; readonly set: JWTVerifyGetKey } | undefined
  #failedAt = -Infinity

  constructor(options: OidcOptions) {
    this.#options = options
  }

  /**
   * Verifies a token. Throws `AuthError` for a bad token, `unavailable` when the keys of the provider cannot be
   * fetched.
   */
  async verify(token: string): Promise<VerifiedToken> {
    const { issuer, isAudience, tokenType, now = Date.now } = this.#options
    if (token.length > MAX_TOKEN_LENGTH)
      throw new AuthError('invalid_token', 'the token is too long')
    let payload: JWTPayload
    let keyId: string | undefined
    try {
      const verified = await jwtVerify(token, await this.#keySet(), {
        issuer,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'iss', 'aud', this.#options.userClaim],
        ...(tokenType === undefined ? {} : { typ: tokenType }),
      })
      payload = verified.payload
      keyId = verified.protectedHeader.kid
    } catch (error) {
      throw toAuthError(error)
    }
    const { iat = 0, exp = 0, aud = [] } = payload
    const audiences = [aud].flat()
    if (!audiences.some((each) => typeof each === 'string' && isAudience(each))) {
      throw new AuthError('invalid_token', "the token's claim aud is not accepted")
    }
    // jose accepts tokens that were issued in the future.
    if (iat * 1_000 > now() + CLOCK_TOLERANCE_SECONDS * 1_000) {
      throw new AuthError('invalid_token', 'the token was issued in the future')
    }
    return {
      principal: principalOfClaims(payload, this.#options),
      audiences,
      expiresAt: exp * 1_000,
      claims: payload,
      keyId,
    }
  }

  /**
   * Whether the provider still has the key of a token that was verified earlier, according to the last fetched keys.
   */
  isKeyCurrent({ keyId }: VerifiedToken): boolean {
    const { keys = this.#remote?.jwks()?.keys } = this.#options.keys?.() ?? {}
    return keyId === undefined || keys === undefined || keys.some(({ kid }) => kid === keyId)
  }

  async #keySet(): Promise<JWTVerifyGetKey> {
    const { now = Date.now, keys } = this.#options
    if (keys !== undefined) return this.#givenKeySet(keys())
    if (this.#keys === undefined) {
      if (now() - this.#failedAt < RETRY_MS) throw unreachable()
      this.#keys = this.#discover()
      this.#keys.catch(() => {
        this.#failedAt = now()
        this.#keys = undefined
      })
    }
    return this.#keys
  }

  #givenKeySet(keys: PublicKeys): JWTVerifyGetKey {
    if (this.#given?.keys !== keys) {
      this.#given = { keys, set: createLocalJWKSet({ keys: [...keys.keys] }) }
    }
    return this.#given.set
  }

  async #discover(): Promise<RemoteKeys> {
    const { issuer, fetch: get = limitedFetch } = this.#options
    const base = issuer.replace(/\/$/, '')
    const { origin, pathname } = new URL(base)
    const path = pathname === '/' ? '' : pathname
    const addresses = [
      `${base}/.well-known/openid-configuration`,
      `${origin}/.well-known/oauth-authorization-server${path}`,
    ]
    let cause: unknown
    for (const address of addresses) {
      try {
        const signal = AbortSignal.timeout(DISCOVERY_LIMIT_MS)
        const response = await get(address, { signal, redirect: 'error' })
        if (!response.ok) throw new Error(`${address} answered ${response.status}`)
        const metadata = Metadata.parse(await response.json())
        // RFC 8414 section 3.3. Otherwise one provider could impersonate another.
        if (metadata.issuer !== issuer) throw new Error(`${address} is of ${metadata.issuer}`)
        this.#remote = createRemoteJWKSet(new URL(metadata.jwks_uri), {
          timeoutDuration: DISCOVERY_LIMIT_MS,
          // A token with an unknown key may be the first one after a rotation.
          cooldownDuration: RETRY_MS,
          [customFetch]: limitedFetch,
        })
        return this.#remote
      } catch (error) {
        cause = error
      }
    }
    throw unreachable(cause)
  }
}

/** The principal of a user with verified claims. Throws `AuthError` when the claims identify no principal. */
export function principalOfClaims(
  claims: Readonly<Record<string, unknown>>,
  { issuer, prefix, userClaim, rolesClaim, defaultRoles, defaultScopes }: ClaimMapping,
): Principal {
  const user = claimAt(claims, userClaim)
  if (typeof user !== 'string' && typeof user !== 'number') {
    throw new AuthError('invalid_token', `the claim ${userClaim} must be a text`)
  }
  // Without a text, the prefix alone would be one principal for all such users.
  if (user === '') throw new AuthError('invalid_token', `the claim ${userClaim} is empty`)
  const id = PrincipalId.safeParse(`${prefix}:${user}`)
  if (!id.success) {
    throw new AuthError('invalid_token', `the claim ${userClaim} ${id.error.issues[0]?.message}`)
  }
  const roles = textList(claimAt(claims, rolesClaim)).filter(
    (role) => RoleName.safeParse(role).success,
  )
  const given = claims['scope'] ?? claims['scp']
  const scopes = textList(given).filter((scope): scope is Scope => Scope.safeParse(scope).success)
  return {
    id: id.data,
    issuer,
    method: 'oidc',
    roles: roles.length === 0 ? [...defaultRoles] : roles,
    scopes: scopes.length === 0 ? [...defaultScopes] : scopes,
  }
}

/** The issuer that an unverified token names; `undefined` when it names none. */
export function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

function unreachable(cause?: unknown): BusError {
  const message = 'the identity provider does not answer, so tokens cannot be verified; try again'
  return new BusError('unavailable', message, { cause })
}

/** Converts a refusal to an error without details of the key set. Faults of the provider are `unavailable`. */
function toAuthError(error: unknown): BusError {
  if (error instanceof BusError) return error
  if (error instanceof errors.JWTExpired)
    return new AuthError('invalid_token', 'the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new AuthError('invalid_token', `the token's claim ${error.claim} is not accepted`)
  }
  if (
    error instanceof errors.JWKSTimeout ||
    (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC')
  ) {
    return unreachable(error)
  }
  if (error instanceof errors.JOSEError) {
    return new AuthError('invalid_token', 'the token is not valid')
  }
  // Such as a connection that was refused during the fetch of the keys.
  return unreachable(error)
}

/** The value of a claim, whose name may have dots, or at a path with dots; `undefined` when there is none. */
export function claimAt(claims: Readonly<Record<string, unknown>>, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim]
  let value: unknown = claims
  for (const name of claim.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** The items of a list, or of a text that separates them by spaces or commas. */
function textList(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/[\s,]+/).filter((each) => each !== '')
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
