import type { Accounts, PublicKeys, VerifiedToken } from '@mcp-host/auth'
import { AuthError, isLoginValid, issuerOf, OidcVerifier, principalOfAccount } from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import type { Revocations } from '../session/revocations.ts'
import { grantRevocation } from './provider-store.ts'

/** The claim of access tokens with the id of their grant. */
export const GRANT_CLAIM = 'grant'

export interface LocalTokensDeps {
  readonly accounts: Accounts
  readonly revocations: Revocations
  readonly keys: () => PublicKeys
}

/** Verifies the access tokens of the host's own authorization server, under each address of the host. */
export class LocalTokens {
  readonly issuers: readonly string[]
  readonly #deps: LocalTokensDeps
  readonly #verifiers: ReadonlyMap<string, OidcVerifier>

  constructor(
    deps: LocalTokensDeps,
    issuers: readonly string[],
    isResource: (resource: string) => boolean,
  ) {
    this.issuers = issuers
    this.#deps = deps
    this.#verifiers = new Map(
      issuers.map((issuer) => [
        issuer,
        new OidcVerifier({
          issuer,
          isAudience: isResource,
          keys: deps.keys,
          // Roles come from the account at each use of the token.
          rolesClaim: '',
          defaultRoles: [],
          // A token of this host is good for the scopes that it names.
          defaultScopes: [],
          userClaim: 'sub',
          prefix: 'user',
          // Only access tokens count; id tokens are for clients.
          tokenType: 'at+jwt',
        }),
      ]),
    )
  }

  /** Rejects with `AuthError`. */
  async verify(token: string): Promise<VerifiedToken> {
    const verifier = this.#verifiers.get(issuerOf(token) ?? '')
    if (verifier !== undefined) return verifier.verify(token)
    throw new AuthError('invalid_token', 'the token is not of this host')
  }

  /** The principal of a token that was verified before. Throws `AuthError` when its grant or account is revoked. */
  principalOf(verified: VerifiedToken): Principal {
    const { claims, principal } = verified
    const { accounts, revocations } = this.#deps
    const { iss = '', sub = '', iat = 0, [GRANT_CLAIM]: grant } = claims
    if (this.#verifiers.get(iss)?.isKeyCurrent(verified) !== true) {
      throw new AuthError('invalid_token', 'the key of the token is not in use any more')
    }
    if (typeof grant !== 'string' || revocations.has(grantRevocation(grant))) {
      throw new AuthError('invalid_token', 'the permission of this client was withdrawn')
    }
    const account = accounts.find(sub)
    if (!isLoginValid(account, iat * 1_000)) {
      throw new AuthError('invalid_token', 'the account is disabled, or must log in again')
    }
    return principalOfAccount(account, { method: 'oidc', scopes: principal.scopes })
  }
}
