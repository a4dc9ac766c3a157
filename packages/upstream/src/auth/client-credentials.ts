import type { OAuthTokens } from '@modelcontextprotocol/client'
import {
  checkResourceAllowed,
  ClientCredentialsProvider,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  fetchToken,
  PrivateKeyJwtProvider,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client'
import { readFile } from 'node:fs/promises'

import { readFault } from '@mcp-host/json'
import type { GuardedFetch } from '../proxy/guarded-fetch.ts'
import { guardedFetch } from '../proxy/guarded-fetch.ts'
import type { AuthDeps, AuthStrategy } from './auth-strategy.ts'
import type { Challenge } from './token-source.ts'
import { TokenSource } from './token-source.ts'

/** A login of the host itself (RFC 6749, section 4.4), with a secret or by a signed assertion (RFC 7523). */
export interface ClientCredentialsAuthConfig {
  readonly type: 'client-credentials'
  /** The URL of the authorization server that gets the credentials. */
  readonly issuer: string
  readonly clientId: string
  /** Either this or `privateKeyFile`. */
  readonly clientSecret?: string
  /** The absolute path of a private key in PEM (PKCS #8). It is read for each token. */
  readonly privateKeyFile?: string
  /** The algorithm of the assertion, such as `RS256` or `ES256`. Default: `RS256`. */
  readonly algorithm?: string
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string
  /** Does not name the server to the authorization server (RFC 8707), which some refuse. */
  readonly omitResource?: boolean
}

const LIMITS = { timeoutMs: 15_000, maxBytes: 256 * 1024 }

/** Gets tokens from an authorization server by the credentials of the host. */
export const clientCredentials: AuthStrategy<ClientCredentialsAuthConfig> = {
  open(config, deps, url) {
    if (config.clientSecret !== undefined) deps.onToken(config.clientSecret)
    const fetchFn = fetchFor(config, deps, url)
    return new TokenSource(async (challenge) => {
      const tokens = await ask(config, { url, challenge, fetchFn })
      deps.onToken(tokens.access_token)
      return tokens
    })
  },
}

/** Both addresses are from the configuration, so they may be internal ones; what they name may not. */
function fetchFor(
  { issuer }: ClientCredentialsAuthConfig,
  { proxyFor }: AuthDeps,
  url: string,
): GuardedFetch {
  const internalHosts = [url, issuer].map((each) => hostOf(each))
  return guardedFetch({ internalHosts, allowsPlain: true, proxyFor, ...LIMITS })
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
}

interface Asked {
  readonly url: string
  readonly challenge: Challenge
  readonly fetchFn: GuardedFetch
}

async function ask(config: ClientCredentialsAuthConfig, asked: Asked): Promise<OAuthTokens> {
  const { issuer } = config
  const { fetchFn, challenge } = asked
  try {
    const provider = await providerOf(config)
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn })
    if (metadata === undefined) throw new Error('it publishes no metadata (RFC 8414)')
    const server = await resourceOf(asked)
    const resource = config.omitResource === true ? undefined : server?.resource
    const scope = config.scope ?? challenge.scope ?? server?.scopes_supported?.join(' ')
    return await fetchToken(provider, issuer, {
      metadata,
      fetchFn,
      ...(resource === undefined ? {} : { resource: new URL(resource) }),
      ...(scope === undefined ? {} : { scope }),
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the authorization server ${issuer} gave no token: ${reason}`, { cause: error })
  }
}

/** What the server says about itself; `undefined` where it says nothing. Throws when it claims to be another one. */
async function resourceOf({ url, challenge, fetchFn }: Asked) {
  const { resourceMetadataUrl } = challenge
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }
  const found = await discoverOAuthProtectedResourceMetadata(url, options, fetchFn).catch(
    () => undefined,
  )
  if (found === undefined) return undefined
  const requestedResource = resourceUrlFromServerUrl(url)
  if (checkResourceAllowed({ requestedResource, configuredResource: found.resource })) return found
  throw new Error(`the server at ${new URL(url).origin} says that it is ${found.resource}`)
}

async function providerOf({
  issuer: expectedIssuer,
  clientId,
  clientSecret,
  privateKeyFile,
  algorithm = 'RS256',
}: ClientCredentialsAuthConfig): Promise<ClientCredentialsProvider | PrivateKeyJwtProvider> {
  if (privateKeyFile === undefined) {
    // The configuration has one of the two.
    const secret = clientSecret as string
    return new ClientCredentialsProvider({ clientId, clientSecret: secret, expectedIssuer })
  }
  const privateKey = await readFile(privateKeyFile, 'utf8').catch((error: unknown) => {
    throw new Error(`the key file ${privateKeyFile} ${readFault(error)}`, { cause: error })
  })
  return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm, expectedIssuer })
}
