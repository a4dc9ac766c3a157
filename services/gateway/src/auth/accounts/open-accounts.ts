import type { IncomingMessage } from 'node:http'
import type { Accounts } from '@mcp-host/auth'
import { invitationLink, Invitations, KeyRing, TOKEN_SECONDS } from '@mcp-host/auth'
import type { Bus, Counter } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import type { FastifyInstance } from 'fastify'
import { Provider } from 'oidc-provider'
import type { ProxyFor } from '@mcp-host/upstream/proxy'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { ReturnTarget } from '../login/login-routes.ts'
import type { MakerCheck } from '../maker-check.ts'
import type { PublicAddress } from '../public-address.ts'
import type { Revocations } from '../session/revocations.ts'
import type { Login, LoginSessions } from '../session/login-sessions.ts'
import { addClientsRoutes } from './clients-routes.ts'
import { ClientDocuments } from './client-document.ts'
import { addConsentRoutes } from './consent-routes.ts'
import { Consents } from './consents.ts'
import { createProvider } from './create-provider.ts'
import { describeInteraction } from './interaction.ts'
import { addInvitationRoutes } from './invitation-routes.ts'
import { LocalTokens } from './local-tokens.ts'
import { addProviderRoutes } from './provider-routes.ts'
import { ProviderStore } from './provider-store.ts'

export interface AccountsDeps {
  readonly bus: Pick<Bus, 'bucket' | 'clock' | 'secret'>
  readonly accounts: Accounts
  readonly makers: MakerCheck
  readonly logger: Logger
  readonly counter: Promise<Counter>
  readonly revocations: Revocations
  readonly logins: LoginSessions
  readonly address: PublicAddress
  readonly audit: GatewayAudit
  /** See `ClientDocumentsDeps`. */
  readonly internalHosts: readonly string[]
  readonly proxyFor: ProxyFor
  /** The address of a client, through trusted proxies. */
  readonly addressOf: (request: IncomingMessage) => string
}

/** The parts of the gateway that the pages use. */
interface AccountPagesDeps {
  readonly audit: GatewayAudit
  readonly home: string
}

/** Accounts of the host itself, with its authorization server. */
export interface LocalAccounts {
  readonly accounts: Accounts
  readonly invitations: Invitations
  readonly tokens: LocalTokens
  /** Adds the endpoints of the authorization server. */
  addEndpoints(app: FastifyInstance): Promise<void>
  /** Adds the pages for users. */
  addPages(app: FastifyInstance, deps: AccountPagesDeps): void
  /** The client for which a user logs in; `undefined` when there is none. */
  describeReturn(path: string): Promise<ReturnTarget | undefined>
  /** Logs a link for the first admin, unless there is an admin. */
  offerFirstAdmin(): Promise<void>
}

/** Opens the accounts of `AUTH=local`. Its modules are loaded only with this setting, since they take 20 MB. */
export async function openAccounts({
  bus,
  accounts,
  makers,
  logger,
  counter,
  revocations,
  logins,
  audit: ownAudit,
  internalHosts,
  proxyFor,
  addressOf,
  address: { publicUrl, origins },
}: AccountsDeps): Promise<LocalAccounts> {
  const tokenLifeMs = (TOKEN_SECONDS + 60) * 1_000
  const currentAddress = (): string | undefined => Provider.ctx && addressOf(Provider.ctx.req)
  const [invitations, keys, store, consents] = await Promise.all([
    Invitations.open(bus, accounts),
    KeyRing.open(bus),
    ProviderStore.open({ bus, counter, revocations, currentAddress }, tokenLifeMs),
    Consents.open(bus),
  ])
  const isResource = (resource: string): boolean => isOwnResource(resource, origins)
  const tokens = new LocalTokens(
    { accounts, revocations, keys: () => keys.publicKeys },
    origins,
    isResource,
  )
  /** The logins of the browsers whose requests the library handles. */
  const current = new WeakMap<object, Login>()
  const documents = new ClientDocuments({ internalHosts, proxyFor, currentAddress })
  const cookieSuffix = logins.cookieName.slice(-8)
  const loginOf = (request: object): Login | undefined => current.get(request)
  let built: { readonly of: object; readonly byIssuer: Map<string, Provider> } | undefined
  /**
   * The authorization server of one address of this host. Clients require that the issuer is the address where they
   * found it.
   */
  const provider = (host: string | undefined): Provider => {
    const ring = keys.current
    if (built?.of !== ring) built = { of: ring, byIssuer: new Map() }
    const issuer = origins.find((each) => each.endsWith(`://${host}`)) ?? publicUrl
    let found = built.byIssuer.get(issuer)
    if (found === undefined) {
      const options = { issuer, keys: ring, cookieSuffix, isResource }
      const parts = { accounts, store, logger, loginOf, documents, addressOf, audit: ownAudit }
      found = createProvider(parts, options)
      built.byIssuer.set(issuer, found)
    }
    return found
  }
  return {
    accounts,
    invitations,
    tokens,
    async offerFirstAdmin() {
      if (accounts.hasAdmin) return
      const fields = { component: 'accounts', action: 'first-admin' }
      const link = invitationLink(publicUrl, (await invitations.offerFirstAdmin()).token)
      logger.warn(fields, `no admin exists; create the first one within a day at ${link}`)
    },
    describeReturn: (path) => describeInteraction(provider(undefined), path),
    async addEndpoints(app) {
      await app.register((scope) =>
        addProviderRoutes(scope, {
          provider,
          logger,
          async prepare(request) {
            const login = await logins.find(request.headers)
            if (login !== undefined) current.set(request, login)
          },
        }),
      )
    },
    addPages(app, { audit, home }) {
      addConsentRoutes(app, { provider, accounts, logins, store, consents, audit })
      addClientsRoutes(app, { logins, consents, store, audit })
      addInvitationRoutes(app, { accounts, makers, invitations, logins, audit, home })
    },
  }
}

/** Whether this host issues tokens for a resource: for itself, and for each of its MCP servers. */
function isOwnResource(resource: string, origins: readonly string[]): boolean {
  const url = URL.parse(resource)
  if (url === null || !origins.includes(url.origin) || url.search !== '' || url.hash !== '') {
    return false
  }
  return url.pathname === '/' || url.pathname === '/mcp' || url.pathname.startsWith('/mcp/')
}
