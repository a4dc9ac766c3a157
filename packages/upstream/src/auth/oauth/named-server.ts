import type { AuthorizationServer } from './authorization-server.ts'

/** The authorization server that a configuration names. */
export interface NamedServer {
  /** Its URL. */
  readonly issuer?: string
  /** The URL of its login page, for one that publishes no metadata. */
  readonly authorizationEndpoint?: string
  /** The URL at which it gives tokens, for one that publishes no metadata. */
  readonly tokenEndpoint?: string
}

/** The authorization server as the configuration describes it; `undefined`: it is asked for its metadata (RFC 8414). */
export function describedServer(named: NamedServer): AuthorizationServer | undefined {
  const { issuer, tokenEndpoint, authorizationEndpoint = tokenEndpoint } = named
  if (issuer === undefined || authorizationEndpoint === undefined) return undefined
  if (tokenEndpoint === undefined) return undefined
  return {
    issuer,
    metadata: {
      issuer,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
      response_types_supported: ['code'],
      // It gets the challenge, and ignores it if it does not know it.
      code_challenge_methods_supported: ['S256'],
    },
  }
}

/** The addresses of an authorization server in the configuration, which may be internal ones. */
export function configuredAddresses({ issuer, tokenEndpoint }: NamedServer): string[] {
  return [issuer, tokenEndpoint].filter((each) => each !== undefined)
}
