import type { IncomingMessage } from 'node:http'
import { accountPrincipalId, isLoginValid, TOKEN_SECONDS } from '@mcp-host/auth'
import type { Accounts, KeyRing } from '@mcp-host/auth'
import { BusError, SCOPES } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { errors, interactionPolicy, Provider } from 'oidc-provider'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { Login } from '../session/login-sessions.ts'
import { errorPage } from '../pages/error-page.ts'
import { PAGE_HEADERS } from '../pages/page.ts'
import { CHECKED_FIELDS, checkClientField, CLIENT_SCOPES } from './check-client.ts'
import type { ClientDocuments } from './client-document.ts'
import { GRANT_CLAIM } from './local-tokens.ts'
import type { ProviderStore } from './provider-store.ts'

const MINUTE = 60
const DAY = 24 * 60 * MINUTE
const INTERACTION_SECONDS = 30 * MINUTE

export interface ProviderDeps {
  readonly accounts: Accounts
  readonly store: ProviderStore
  readonly logger: Logger
  readonly audit: Pick<GatewayAudit, 'clientRegistered' | 'tokenReused'>
  /** The login of the browser that sent a request. */
  readonly loginOf: (request: object) => Login | undefined
  readonly documents: ClientDocuments
  /** The address of a client, through trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string
}

export interface ProviderOptions {
  /** The address of this host under which it issues tokens. */
  readonly issuer: string
  readonly keys: KeyRing['current']
  /** The suffix of cookie names, since all ports of a host name share cookies. */
  readonly cookieSuffix: string
  /** Whether an address is a resource of this host. */
  readonly isResource: (resource: string) => boolean
}

/** The authorization server of the host: OAuth 2.1 with PKCE for clients that register themselves. */
export function createProvider(deps: ProviderDeps, options: ProviderOptions): Provider {
  const provider = new Provider(options.issuer, configure(deps, options))
  // The gateway sets the headers that tell the library the public address.
  provider.proxy = true
  provider.on('server_error', (ctx: KoaContextWithOIDC, error: unknown) => {
    if (BusError.from(error).code === 'unavailable' && ctx.status === 500) {
      ctx.status = 503
      ctx.set('retry-after', '1')
    } else {
      deps.logger.error({ component: 'accounts', action: ctx.path, err: error }, 'request failed')
    }
  })
  // The types of the library lack this method.
  const tokens = provider.RefreshToken.prototype as unknown as {
    generateTokenId: (this: unknown) => string
  }
  const generate = tokens.generateTokenId
  tokens.generateTokenId = function () {
    const { jti } = Provider.ctx?.oidc.entities.RotatedRefreshToken ?? {}
    return jti === undefined ? generate.call(this) : deps.store.successorOf(jti)
  }
  const { audit, addressOf } = deps
  provider.on('registration_create.success', ({ req }, { clientId, clientName }) =>
    audit.clientRegistered(addressOf(req), clientId, clientName),
  )
  provider.on('grant.revoked', ({ req, oidc: { route, entities } }) => {
    // At the other routes, clients end their own grants.
    if (route !== 'token') return
    const account = (entities.RefreshToken ?? entities.AuthorizationCode)?.accountId
    const principal = account === undefined ? 'nobody' : accountPrincipalId(account)
    audit.tokenReused(addressOf(req), principal, entities.Client?.clientId ?? '')
  })
  return provider
}

function configure(
  { accounts, store, loginOf, documents }: ProviderDeps,
  { issuer, keys, cookieSuffix, isResource }: ProviderOptions,
): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const
  const isSecure = issuer.startsWith('https:')
  return {
    adapter: (model: string) => store.adapter(model),
    jwks: { keys: keys.signing.map(toJwk) as never },
    cookies: {
      keys: [...keys.cookies],
      names: {
        session: `mcp-host-op-${cookieSuffix}`,
        interaction: `mcp-host-op-interaction-${cookieSuffix}`,
        resume: `mcp-host-op-resume-${cookieSuffix}`,
      },
      long: { ...cookie, secure: isSecure, path: '/auth' },
      short: { ...cookie, secure: isSecure },
    },
    routes: {
      authorization: '/auth/authorize',
      jwks: '/auth/jwks',
      registration: '/auth/register',
      revocation: '/auth/revoke',
      token: '/auth/token',
    },
    clientDefaults: {
      // Native clients run on the user's computer and choose a port at each start.
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    extraClientMetadata: {
      properties: CHECKED_FIELDS,
      validator: (_, field, value, metadata) => checkClientField(field, value, metadata),
    },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    responseTypes: ['code'],
    scopes: [...CLIENT_SCOPES],
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: { enabled: true },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: async () => {
          documents.checkRoom()
          return true
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, __, oneOf) => oneOf ?? `${issuer}/mcp`,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => {
          if (!isResource(resource)) throw new errors.InvalidTarget()
          return {
            scope: SCOPES.join(' '),
            audience: resource,
            accessTokenTTL: TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          }
        },
      },
    },
    ttl: {
      AccessToken: TOKEN_SECONDS,
      AuthorizationCode: MINUTE,
      Grant: 180 * DAY,
      IdToken: TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: 30 * DAY,
      Session: 14 * DAY,
    },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    extraTokenClaims: (_, token) =>
      token.kind === 'AccessToken' ? { [GRANT_CLAIM]: token.grantId } : undefined,
    findAccount: async (_, name, token) => {
      const account = accounts.find(name) ?? (await accounts.read(name))
      const since = token === undefined ? undefined : 'iiat' in token ? token.iiat : token.iat
      if (!isLoginValid(account, since === undefined ? Infinity : since * 1_000)) {
        return undefined
      }
      return { accountId: name, claims: async () => ({ sub: name }) }
    },
    interactions: {
      policy: policyOf(loginOf),
      url: (_, { uid }) => `/auth/interaction/${uid}`,
    },
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'html'
      ctx.set(PAGE_HEADERS)
      ctx.body = errorPage({
        title: 'This login cannot continue',
        text: description === undefined ? error : `${description} (${error})`,
        advice: 'Go back to the program that sent you here and connect again.',
      })
    },
    clientBasedCORS: () => true,
    fetch: (input, init) => documents.fetch(input, init),
    discovery: { service_documentation: undefined },
  }
}

/** A key in the form that the library takes. */
function toJwk(key: KeyRing['current']['signing'][number]) {
  const { retiresAt: _, ...jwk } = key
  return jwk
}

/** The library remembers logins, too. They count only while the browser is logged in at this host. */
function policyOf(loginOf: ProviderDeps['loginOf']): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  const check = new interactionPolicy.Check(
    'browser_login',
    'the browser is not logged in any more',
    ({ oidc, req }) => {
      const { accountId } = oidc.session ?? {}
      return accountId !== undefined && loginOf(req)?.account !== accountId
        ? interactionPolicy.Check.REQUEST_PROMPT
        : interactionPolicy.Check.NO_NEED_TO_PROMPT
    },
  )
  policy.get('login')?.checks.add(check, 0)
  return policy
}
