import type { Accounts } from '@mcp-host/auth'
import { isLoginValid, principalOfAccount } from '@mcp-host/auth'
import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { FastifyInstance } from 'fastify'
import type { ProxyFor } from '@mcp-host/upstream/proxy'
import type { BodyReader } from './edge/body-reader.ts'
import type { GatewayAudit } from './gateway-audit.ts'
import { clientAddress } from './limits/client-address.ts'
import type { GatewayLimits } from './limits/gateway-limits.ts'
import type { LocalAccounts } from './auth/accounts/open-accounts.ts'
import { Attempts } from './auth/login/attempts.ts'
import { addLoginRoutes, loginForm } from './auth/login/login-routes.ts'
import { addPages } from './auth/login/pages-scope.ts'
import { addPasswordRoutes } from './auth/login/password-routes.ts'
import type { MakerCheck } from './auth/maker-check.ts'
import type { PublicAddress } from './auth/public-address.ts'
import type { Login } from './auth/session/login-sessions.ts'
import { LoginSessions } from './auth/session/login-sessions.ts'
import { Revocations } from './auth/session/revocations.ts'
import type { GatewayConfig } from './config.ts'

export interface LoginsDeps {
  readonly bus: Pick<Bus, 'bucket' | 'secret' | 'counter' | 'clock'>
  /** The accounts of this host. */
  readonly accounts: Accounts
  readonly makers: MakerCheck
  readonly logger: Logger
  readonly address: PublicAddress
  readonly audit: GatewayAudit
  readonly proxyFor: ProxyFor
}

/** The parts of the gateway that the pages use. */
interface PagesDeps {
  readonly bodies: BodyReader
  readonly limits: Pick<GatewayLimits, 'addressOf' | 'connection'>
  readonly audit: GatewayAudit
}

/** The logins of browsers. */
export interface Logins {
  readonly sessions: LoginSessions
  /** The accounts of this host; `undefined` without `AUTH=local`. */
  readonly local: LocalAccounts | undefined
  /** Adds the pages and endpoints of logins. */
  addTo(app: FastifyInstance, deps: PagesDeps): Promise<void>
}

/** Opens the logins of browsers; `undefined` when the settings allow none. */
export async function openLogins(
  { bus, accounts, makers, logger, address, audit, proxyFor }: LoginsDeps,
  config: GatewayConfig,
): Promise<Logins | undefined> {
  const { publicUrl, origins } = address
  const isLocal = config.auth.includes('local')
  const hasProvider = config.auth.includes('oidc') && config.oidcClientId !== undefined
  if (!isLocal && !hasProvider) return undefined
  const counter = bus.counter()
  counter.catch(() => undefined)
  const revocations = await Revocations.open(bus)
  const ways = {
    accounts: isLocal ? accounts : undefined,
    issuer: hasProvider ? config.oidcIssuer : undefined,
  }
  const principalOf = (login: Login): Principal | undefined => principalOfLogin(ways, makers, login)
  const logins = await LoginSessions.open({ bus, revocations, principalOf }, origins)
  const parts = { bus, logger, counter, logins, audit }
  // Libraries are loaded only when the settings need them.
  const local = isLocal
    ? await import('./auth/accounts/open-accounts.ts').then(({ openAccounts }) =>
        openAccounts({
          ...parts,
          accounts,
          makers,
          revocations,
          address,
          proxyFor,
          internalHosts: config.clientDocumentHosts,
          addressOf: clientAddress(config.trustedProxies),
        }),
      )
    : undefined
  const provider = hasProvider
    ? await import('./auth/identity-provider/open-provider-login.ts').then(
        ({ openProviderLogin }) => openProviderLogin({ ...parts, makers, publicUrl }, config),
      )
    : undefined

  return {
    sessions: logins,
    local,
    async addTo(app, given) {
      // Without the web UI there is no chat to show.
      const deps = { ...given, home: config.webFolder === undefined ? '/login' : '/' }
      await local?.addEndpoints(app)
      await app.register(async (scope) => {
        addPages(scope, { ...deps, logger, origins })
        const attempts = new Attempts(counter, bus.clock)
        const describeReturn = async (path: string) => local?.describeReturn(path)
        const about = { provider: provider?.pages, describeReturn }
        const sendForm = loginForm({ ...about, accounts })
        const hasPasswords = local !== undefined
        addLoginRoutes(scope, { ...about, ...deps, logins, publicUrl, hasPasswords, sendForm })
        provider?.addTo(scope, { ...deps, attempts })
        if (local === undefined) return
        local.addPages(scope, deps)
        const { addressOf } = deps.limits
        addPasswordRoutes(scope, { ...deps, ...local, logins, attempts, addressOf, sendForm })
      })
    },
  }
}

/** The ways of logging in that the settings allow. */
interface Ways {
  readonly accounts: Accounts | undefined
  /** The identity provider. */
  readonly issuer: string | undefined
}

/**
 * The principal of a login; `undefined` when its account must log in again, or when the settings do not allow its way of
 * logging in. Users of an identity provider keep the principal of their login until they are disabled.
 */
function principalOfLogin(
  { accounts, issuer }: Ways,
  makers: MakerCheck,
  { account: name = '', loggedInAt, validFrom = loggedInAt, principal }: Login,
): Principal | undefined {
  if (principal !== undefined) {
    return principal.issuer === issuer && !makers.isDisabled(principal) ? principal : undefined
  }
  const account = accounts?.find(name)
  if (!isLoginValid(account, validFrom)) return undefined
  return principalOfAccount(account, { method: 'session' })
}
