/** What a server says when it refuses a request (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined
  /** The scopes that the request needs, separated by spaces. */
  readonly scope?: string | undefined
  /** Whether the token was good and its scopes were too few. */
  readonly isForMore?: boolean
}
