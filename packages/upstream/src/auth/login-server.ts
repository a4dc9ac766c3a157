import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'

import type { ProxyFor } from '../proxy/proxy-for.ts'
import { authFetch } from './auth-fetch.ts'
import type { OAuthAuthConfig } from './oauth.ts'
import type { ProtectedServer } from './oauth/authorization-server.ts'
import type { Challenge } from './oauth/challenge.ts'
import { configuredAddresses, describedServer } from './oauth/named-server.ts'

/** A server at which users log in. */
export interface LoginServer {
  /** Its address; that of the authorization server where it is a program. */
  readonly url: string
  readonly isProgram: boolean
  /** What every request to it has. */
  readonly headers: Readonly<Record<string, string>>
  readonly auth: OAuthAuthConfig
  readonly proxyFor: ProxyFor
}

/** A server with what its authorization server is found by. */
export function protectedServerOf(server: LoginServer, challenge: Challenge = {}): ProtectedServer {
  const { url, auth } = server
  return { url, challenge, fetchFn: fetchOf(server), described: describedServer(auth) }
}

export function fetchOf({ url, auth, proxyFor }: LoginServer): ReturnType<typeof authFetch> {
  return authFetch({ proxyFor }, [url, ...configuredAddresses(auth)])
}

/** What the server says to a client without a token. */
export async function challengeOf(server: LoginServer): Promise<Challenge> {
  const response = await greet(server)
  if (response.status !== 401) return {}
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return { resourceMetadataUrl, scope }
}

/** Whether the server refuses a token. */
export async function isTokenRefused(server: LoginServer, token: string): Promise<boolean> {
  const { status } = await greet(server, { authorization: `Bearer ${token}` })
  return status === 401 || status === 403
}

async function greet(server: LoginServer, credentials: Credentials = {}): Promise<Response> {
  const clientInfo = { name: 'mcp-host', version: '0' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  return fetchOf(server)(server.url.replace(/^ws/, 'http'), {
    method: 'POST',
    headers: {
      ...server.headers,
      ...credentials,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
}

type Credentials = { readonly authorization?: string }
