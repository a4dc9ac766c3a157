import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client'
import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client'

import type { GuardedFetch } from '../../proxy/guarded-fetch.ts'
import type { Challenge } from './challenge.ts'

/** A server that asks for tokens. */
export interface ProtectedServer {
  readonly url: string
  readonly challenge: Challenge
  readonly fetchFn: GuardedFetch
  /** Its authorization server, where the configuration describes it. */
  readonly described?: AuthorizationServer | undefined
}

/** What a server says about itself (RFC 9728). */
export interface ResourceMetadata {
  /** Its name at authorization servers (RFC 8707). */
  readonly resource: string
  readonly authorization_servers?: readonly string[] | undefined
  readonly scopes_supported?: readonly string[] | undefined
}

export interface AuthorizationServer {
  readonly issuer: string
  /** What it says about itself (RFC 8414); `undefined` for those of the revision 2025-03-26 that say nothing. */
  readonly metadata: AuthorizationServerMetadata | undefined
}

/** What the server says about itself; `undefined` where it says nothing. Throws when it claims to be another one. */
export async function resourceOf({
  url,
  challenge,
  fetchFn,
}: ProtectedServer): Promise<ResourceMetadata | undefined> {
  const { resourceMetadataUrl } = challenge
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
  let isFault = resourceMetadataUrl !== undefined
  const noting: GuardedFetch = async (...request) => {
    try {
      const response = await fetchFn(...request)
      isFault ||= response.status >= 500
      return response
    } catch (error) {
      isFault = true
      throw error
    }
  }
  const found = await discoverOAuthProtectedResourceMetadata(url, options, noting).catch(
    (error: unknown) => {
      // A server that is down for a moment must not look like one of the revision 2025-03-26.
      if (isFault) throw error
    },
  )
  if (found === undefined) return undefined
  const requestedResource = resourceUrlFromServerUrl(url)
  if (checkResourceAllowed({ requestedResource, configuredResource: found.resource })) return found
  throw new Error(`the server at ${new URL(url).origin} says that it is ${found.resource}`)
}

/**
 * The first authorization server that answers. `preferred`: the one of an earlier login, which comes first if the server
 * still names it. Throws with the reason of the last one.
 */
export async function findAuthorizationServer(
  { url, fetchFn, described }: ProtectedServer,
  named: readonly string[] = [],
  preferred?: string,
): Promise<AuthorizationServer> {
  if (described !== undefined) return described
  // In the revision 2025-03-26, it is at the address of the server.
  if (named.length === 0) {
    const issuer = new URL('/', url).href
    return { issuer, metadata: await discoverAuthorizationServerMetadata(issuer, { fetchFn }) }
  }
  const ordered = named.toSorted(
    (one, other) => Number(other === preferred) - Number(one === preferred),
  )
  let failure: unknown
  for (const issuer of ordered.slice(0, MAX_TRIED)) {
    try {
      const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn })
      if (metadata !== undefined) return { issuer: metadata.issuer, metadata }
      failure = new Error(`${issuer} publishes no metadata (RFC 8414)`)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** A server may name any number of authorization servers. */
const MAX_TRIED = 5
