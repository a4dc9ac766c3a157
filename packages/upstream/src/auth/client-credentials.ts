import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { readFile } from 'node:fs/promises'

import { readFault } from '@mcp-host/json'
import { askForToken } from './ask-for-token.ts'
import { authFetch } from './auth-fetch.ts'
import type { AuthStrategy } from './auth-strategy.ts'
import { configuredAddresses } from './oauth/named-server.ts'
import { TokenSource } from './token-source.ts'

/** A login of the host itself (RFC 6749, section 4.4), with a secret or by a signed assertion (RFC 7523). */
export interface ClientCredentialsAuthConfig {
  readonly type: 'client-credentials'
  /** The URL of the authorization server that gets the credentials. */
  readonly issuer: string
  /** The URL at which it gives tokens, for one that publishes no metadata. */
  readonly tokenEndpoint?: string
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

/** Gets tokens from an authorization server by the credentials of the host. */
export const clientCredentials: AuthStrategy<ClientCredentialsAuthConfig> = {
  open(config, deps, url) {
    if (config.clientSecret !== undefined) deps.onToken(config.clientSecret)
    const fetchFn = authFetch(deps, [url, ...configuredAddresses(config)])
    const { onToken } = deps
    return new TokenSource(
      ({ challenge }) =>
        askForToken(config, { url, challenge, fetchFn, onToken }, () => providerOf(config)),
      deps.onAsked,
    )
  },
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
