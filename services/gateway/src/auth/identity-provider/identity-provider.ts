import type { ClaimMapping } from '@mcp-host/auth'
import { claimAt, limitedFetch, principalOfClaims } from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import type { ServerMetadata } from 'openid-client'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { LoginStart } from './login-starts.ts'
import { providerAway, toRefusal } from './to-refusal.ts'

const TIMEOUT_SECONDS = 5
/** The time for which the provider's metadata is cached. */
const METADATA_MS = 5 * 60_000

export const CALLBACK_PATH = '/auth/callback'

export interface IdentityProviderOptions extends ClaimMapping {
  readonly clientId: string
  readonly clientSecret: string
  /** The scopes that each login requests; `openid` is one of them. */
  readonly scopes: readonly string[]
  /** The public address of this host. */
  readonly publicUrl: string
}

/** The start of a login, and the address to which the browser is sent. */
export interface BegunLogin extends Pick<LoginStart, 'nonce' | 'verifier'> {
  readonly state: string
  readonly url: string
}

/** A user whom the identity provider has logged in. */
export interface ProvenUser {
  readonly principal: Principal
  readonly idToken: string
}

/** The identity provider, where browsers log in by the authorization code flow of OpenID Connect. */
export class IdentityProvider {
  readonly #options: IdentityProviderOptions
  #metadata: { readonly at: number; readonly value: Promise<ServerMetadata> } | undefined

  constructor(options: IdentityProviderOptions) {
    this.#options = options
  }

  /** Rejects with `unavailable` when the provider does not work. */
  async begin(): Promise<BegunLogin> {
    const { scopes, publicUrl } = this.#options
    const about = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
    const url = buildAuthorizationUrl(await this.#configure(), {
      redirect_uri: publicUrl + CALLBACK_PATH,
      scope: scopes.join(' '),
      state: about.state,
      nonce: about.nonce,
      code_challenge: await calculatePKCECodeChallenge(about.verifier),
      code_challenge_method: 'S256',
    })
    return { ...about, url: url.href }
  }

  /**
   * The user of the login that a browser comes back from. Checks state, issuer (RFC 9207), PKCE, nonce and the signed
   * id token. Rejects with `denied`, or `unavailable` when the provider does not work.
   */
  async finish(
    path: string,
    { state, nonce, verifier }: Pick<BegunLogin, 'state' | 'nonce' | 'verifier'>,
  ): Promise<ProvenUser> {
    try {
      const configuration = await this.#configure()
      const tokens = await authorizationCodeGrant(
        configuration,
        new URL(this.#options.publicUrl + path),
        {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        },
      )
      const { id_token: idToken = '', access_token: accessToken } = tokens
      const claims = await this.#complete(configuration, accessToken, tokens.claims() ?? {})
      const principal = principalOfClaims(claims, this.#options)
      return { principal: { ...principal, method: 'session' }, idToken }
    } catch (error) {
      throw toRefusal(error)
    }
  }

  /**
   * The address that ends the provider's own login (RP-initiated logout); `undefined` when the provider offers none or
   * does not work.
   */
  async logoutUrl(idToken: string): Promise<string | undefined> {
    try {
      const configuration = await this.#configure()
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
      return buildEndSessionUrl(configuration, {
        id_token_hint: idToken,
        post_logout_redirect_uri: `${this.#options.publicUrl}/logout`,
      }).href
    } catch {
      // The login at this host ends even without the provider.
      return undefined
    }
  }

  /** The claims of the id token, completed from the userinfo endpoint: providers put roles into either. */
  async #complete(
    configuration: Configuration,
    accessToken: string,
    claims: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { rolesClaim, userClaim } = this.#options
    const needed = [rolesClaim, userClaim]
    const isComplete = needed.every((claim) => claimAt(claims, claim) !== undefined)
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    return {
      ...(await fetchUserInfo(configuration, accessToken, String(claims['sub']))),
      ...claims,
    }
  }

  /** A configuration for one use. It caches the signing keys of the provider, which may be rotated. */
  async #configure(): Promise<Configuration> {
    const { clientId, clientSecret } = this.#options
    const metadata = await this.#read()
    const methods = metadata.token_endpoint_auth_methods_supported
    // Providers that list no methods accept HTTP Basic.
    const isBasic = methods?.includes('client_secret_basic') ?? true
    const authentication = isBasic
      ? ClientSecretBasic(clientSecret)
      : ClientSecretPost(clientSecret)
    const configuration = new Configuration(metadata, clientId, undefined, authentication)
    configuration.timeout = TIMEOUT_SECONDS
    configuration[customFetch] = fetchOfProvider
    enableNonRepudiationChecks(configuration)
    if (this.#isPlain) allowInsecureRequests(configuration)
    return configuration
  }

  #read(): Promise<ServerMetadata> {
    const now = Date.now()
    if (this.#metadata === undefined || now - this.#metadata.at > METADATA_MS) {
      const value = this.#discover()
      this.#metadata = { at: now, value }
      value.catch(() => (this.#metadata = undefined))
    }
    return this.#metadata.value
  }

  async #discover(): Promise<ServerMetadata> {
    const { issuer, clientId } = this.#options
    try {
      const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
        timeout: TIMEOUT_SECONDS,
        [customFetch]: fetchOfProvider,
        execute: this.#isPlain ? [allowInsecureRequests] : [],
      })
      return found.serverMetadata()
    } catch (error) {
      throw providerAway(error)
    }
  }

  /** Whether the provider runs on this computer, without TLS. Settings with another `http:` issuer are refused. */
  get #isPlain(): boolean {
    return this.#options.issuer.startsWith('http:')
  }
}

// The library types bodies as browsers do.
const fetchOfProvider = (url: string, init: object): Promise<Response> => limitedFetch(url, init)
