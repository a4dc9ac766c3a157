import type { AssertUser } from '@mcp-host/upstream'
import { importJWK, SignJWT } from 'jose'
import { type DerivedKey, deriveKey } from './derived-key.ts'

/** The lifetime of an assertion. */
const LIFE = '60s'

/**
 * Signs assertions about the users of this host (JWTs). The keys are derived from those of `TOKEN_ENC_KEY`, so that all
 * supervisors have the same.
 */
export class UserAssertions {
  readonly #keys: readonly [DerivedKey, ...DerivedKey[]]
  readonly #issuer: string

  /** The first key signs. `publicUrl`: the address of this host. */
  constructor([first, ...others]: readonly [Buffer, ...Buffer[]], publicUrl: string) {
    this.#keys = [signingKeyOf(first), ...others.map(signingKeyOf)]
    this.#issuer = `${publicUrl}/users`
  }

  get keys(): DerivedKey['public'][] {
    return this.#keys.map((key) => key.public)
  }

  /**
   * The claims are those of an ID token, and of an authorization grant of an identity provider
   * (draft-ietf-oauth-identity-assertion-authz-grant). Without a principal, the subject is the host.
   */
  async sign(
    principal: string,
    { audience, clientId, resource, scope }: Parameters<AssertUser>[0],
  ): Promise<string> {
    const [{ public: key, d }] = this.#keys
    const wanted = {
      ...(resource === undefined ? {} : { resource }),
      ...(scope === undefined ? {} : { scope }),
    }
    return new SignJWT({ client_id: clientId, ...wanted })
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt', kid: key.kid })
      .setIssuer(this.#issuer)
      .setSubject(principal === '' ? clientId : principal)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(LIFE)
      .setJti(crypto.randomUUID())
      .sign(await importJWK({ ...key, d }, 'ES256'))
  }
}

function signingKeyOf(key: Buffer): DerivedKey {
  return deriveKey(key, 'user assertions', { use: 'sig', alg: 'ES256' })
}
