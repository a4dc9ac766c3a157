import type { OAuthTokens } from '@modelcontextprotocol/client'

/** Types of tokens that are no bearer tokens. Some authorization servers have names of their own for those that are. */
const OTHER_TYPES = /^(dpop|mac|pop|n_a)$/i
/** The characters that a header can have. */
const HEADER_SAFE = /^[\x21-\x7e]+$/

/** Throws unless an access token can be sent as a bearer token (RFC 6750). */
export function checkBearer(
  issuer: string,
  { access_token: token, token_type: type }: OAuthTokens,
): void {
  if (OTHER_TYPES.test(type)) throw new Error(`${issuer} issued a token of the type ${type}`)
  if (!HEADER_SAFE.test(token)) throw new Error(`${issuer} issued no access token that can be sent`)
}
