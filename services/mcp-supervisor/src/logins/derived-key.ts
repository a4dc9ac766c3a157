import { createECDH, createHash, hkdfSync } from 'node:crypto'

const CURVE = 'prime256v1'

/** A pair of keys on the curve P-256, as JWKs. */
export interface DerivedKey {
  readonly public: Readonly<Record<string, string>> & { readonly kid: string }
  /** The private key. */
  readonly d: string
}

/**
 * Derives a pair of keys from one of `TOKEN_ENC_KEY`, so that all supervisors have the same. `purpose`: keys for one purpose
 * are not used for another.
 */
export function deriveKey(
  key: Buffer,
  purpose: string,
  use: { readonly use: string; readonly alg: string },
): DerivedKey {
  const ecdh = createECDH(CURVE)
  const secret = Buffer.from(hkdfSync('sha256', key, '', `mcp-host ${purpose}`, 32))
  ecdh.setPrivateKey(secret)
  const point = ecdh.getPublicKey()
  const part = (from: number): string => point.subarray(from, from + 32).toString('base64url')
  const kid = createHash('sha256').update(point).digest('base64url').slice(0, 16)
  return {
    public: { kty: 'EC', crv: 'P-256', x: part(1), y: part(33), kid, ...use },
    d: secret.toString('base64url'),
  }
}
