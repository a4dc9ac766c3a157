import type { Scope } from '@mcp-host/contracts'

/** The path prefix of RFC 9728 for the metadata of a resource, which comes before the path of the resource. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** A document of RFC 9728. */
export interface ResourceMetadata {
  readonly resource: string
  readonly resource_name: string
  readonly authorization_servers: readonly string[]
  readonly scopes_supported: readonly string[]
  readonly bearer_methods_supported: readonly ['header']
}

/** The address of the metadata of a resource of this host, such as `https://host/mcp`. */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource)
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`
}

/** The path of the resource that the address of a metadata document is about; `undefined` for other addresses. */
export function describedResource(path: string): string | undefined {
  if (path === WELL_KNOWN || path === `${WELL_KNOWN}/`) return '/'
  return path.startsWith(`${WELL_KNOWN}/`) ? path.slice(WELL_KNOWN.length) : undefined
}

export function resourceMetadata(
  resource: string,
  authorizationServers: readonly string[],
  scopes: readonly Scope[],
): ResourceMetadata {
  return {
    resource,
    resource_name: 'mcp-host',
    authorization_servers: authorizationServers,
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
}
