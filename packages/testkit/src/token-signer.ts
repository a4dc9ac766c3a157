import type { CryptoKey, JWK, JWTPayload } from 'jose'

/** Fields of the header of a token that differ from the usual ones; `key`: signed with it instead. */
export interface TokenHeader {
  readonly alg?: string
  readonly kid?: string
  readonly typ?: string
  readonly key?: CryptoKey
}

/** An identity provider whose tokens a test can make. */
export interface TokenSigner {
  /** Its issuer. */
  readonly url: string
  /** Its public key, with its id. */
  publicKey(): Promise<JWK>
  /** A token that is signed with its key, unless the header has another one. */
  sign(claims: JWTPayload, header?: TokenHeader): Promise<string>
}
