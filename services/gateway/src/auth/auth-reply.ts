import { AuthError, challenge, resourceMetadataUrl } from '@mcp-host/auth'
import { accessOf, isScope } from './access.ts'
import type { Scope } from '@mcp-host/contracts'
import type { Authenticator } from './authenticator.ts'

/** The `WWW-Authenticate` header for a refused credential; empty for other errors. */
export function challengeHeader(
  error: unknown,
  auth: Pick<Authenticator, 'urlOf' | 'authorizationServers'>,
  { path, host }: { readonly path: string; readonly host: string | undefined },
): Readonly<Record<string, string>> {
  if (!(error instanceof AuthError)) return {}
  // Clients have nothing to discover when no authorization server issues tokens.
  const metadata =
    auth.authorizationServers(host).length === 0
      ? undefined
      : resourceMetadataUrl(auth.urlOf(path, host))
  const { fault, message, scopes } = error
  return {
    'www-authenticate': challenge(
      { fault, message, scopes: scopes.length === 0 ? neededScopes(path) : scopes },
      metadata,
    ),
  }
}

/** The scopes that a client should request. Without this list it requests all supported scopes. */
function neededScopes(path: string): readonly Scope[] {
  const access = accessOf(path)
  return isScope(access) ? [access] : []
}
