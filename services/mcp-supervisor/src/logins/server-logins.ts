import type { ServerLogin } from '@mcp-host/contracts'
import { BusError, DEFAULT_LABEL, ServerName } from '@mcp-host/contracts'
import { hasLogins, type LoginHandlers } from '@mcp-host/mcp-bus/serve'
import type { Logger } from '@mcp-host/service'
import type { LoginServer, ServerConfig } from '@mcp-host/upstream'
import { beginLoginElsewhere, finishLoginElsewhere, revokeLogin } from '@mcp-host/upstream'
import { broughtLogins } from './brought-logins.ts'
import { defaultOf } from './choose-label.ts'
import type { HostLogins } from './host-logins.ts'
import { explaining } from './explaining.ts'
import { loginServerOf } from './login-server.ts'
import type { KnownLogin } from './login-vault.ts'

interface ServerLoginsDeps {
  readonly logger: Logger
  /** Absent when users cannot log in. */
  readonly logins: HostLogins | undefined
  readonly proxyFor: LoginServer['proxyFor']
  /** The configured servers by name. */
  readonly servers: () => Readonly<Record<string, ServerConfig>>
}

/** The answers where users cannot log in. */
const NO_LOGINS: LoginHandlers = {
  begin: ({ request }) => Promise.reject(noServer(request.server)),
  finish: ({ request }) => Promise.reject(noServer(request.server)),
  change: ({ request }) => Promise.reject(noServer(request.server)),
  end: ({ request }) => Promise.reject(noServer(request.server)),
  list: async () => ({ servers: [] }),
  users: async () => ({ logins: [] }),
  keys: async () => ({ keys: [] }),
  describe: ({ request }) => Promise.reject(noServer(request.server)),
  bring: ({ request }) => Promise.reject(noServer(request.server)),
}

/** Logs users in at servers: the answers to the gateways, which have the browsers. */
export function serverLogins({
  logger,
  logins,
  proxyFor,
  servers,
}: ServerLoginsDeps): LoginHandlers {
  if (logins === undefined) return NO_LOGINS
  const { vault, pending: starts } = logins
  const serverAt = (name: ServerName): LoginServer => {
    const server = loginServers(servers(), proxyFor).get(name)
    if (server !== undefined) return server
    throw noServer(name)
  }

  return {
    async begin({ request: { server, label, browser }, envelope: { principal } }) {
      const at = serverAt(server)
      const account = { server, url: at.url, principal, label }
      const earlier = await vault.earlier(account)
      const { redirectUrl, registrations } = logins.clientOf(server)
      // Who begins again may have been refused there, since the registration is gone.
      const isAgain = await starts.has(account)
      const client = isAgain
        ? { redirectUrl, registrations: { ...registrations, load: async () => undefined } }
        : { redirectUrl, registrations }
      const begin = () => beginLoginElsewhere(at, client, earlier)
      const { url, pending } = await explaining(server, begin)
      await starts.keep(account, browser, pending)
      return { url: url.href }
    },

    async finish({ request: { server, query, browser }, envelope: { principal } }) {
      const at = serverAt(server)
      const user = { server, url: at.url, principal }
      const returned = new URL(`?${query}`, logins.clientOf(server).redirectUrl)
      const state = returned.searchParams.get('state') ?? ''
      const { account, pending } = await starts.take(user, { browser, state })
      const login = await explaining(server, () => finishLoginElsewhere(at, pending, returned))
      await vault.add(account, login)
      return {}
    },

    async change({ request: { server, label, change }, envelope: { principal } }) {
      const { url } = serverAt(server)
      await vault.change({ server, url, principal, label }, change)
      return {}
    },

    async end({ request: { server, label, principal }, envelope: { principal: by } }) {
      const removed = await vault.remove({ server, principal: principal ?? by, label }, by)
      const at = loginServers(servers(), proxyFor).get(server)
      // A server that has another address by now has nothing to do with it.
      if (removed === undefined || at?.url !== removed.url) return {}
      const { login } = removed
      // It is over here in any case.
      await revokeLogin(at, login).catch((err: unknown) => {
        const fields = { component: 'login', action: 'revoke', server, err }
        logger.warn(fields, 'an authorization server was not told that a login is over')
      })
      return {}
    },

    async users({ request: { server } }) {
      const { url } = serverAt(server)
      const byUser = Map.groupBy(vault.at({ server, url }), ({ principal }) => principal)
      const found = Array.from(byUser, ([principal, all]) => {
        const { label: used } = defaultOf(all) ?? {}
        return all.map((login) => ({ ...toServerLogin(login, used), principal }))
      })
      return { logins: found.flat() }
    },

    keys: async () => ({ keys: logins.assertions.keys, inbox: logins.inbox.key }),
    ...broughtLogins(logins, serverAt),

    async list({ envelope: { principal } }) {
      const all = Array.from(loginServers(servers(), proxyFor), async ([server, { url }]) => {
        const user = { server, url, principal }
        const labels = new Set([DEFAULT_LABEL, ...vault.of(user).map(({ label }) => label)])
        const read = Array.from(labels, (label) => vault.read({ ...user, label }))
        const found = (await Promise.all(read)).flatMap((login) => login ?? [])
        const { label: used } = defaultOf(found) ?? {}
        return { server, url, logins: found.map((login) => toServerLogin(login, used)) }
      })
      return { servers: await Promise.all(all) }
    },
  }
}

/** The servers at which users log in. */
function loginServers(
  servers: Readonly<Record<string, ServerConfig>>,
  proxyFor: LoginServer['proxyFor'],
): Map<ServerName, LoginServer> {
  return new Map(
    Object.entries(servers).flatMap(([name, config]) => {
      if (!hasLogins(config)) return []
      return [[ServerName.parse(name), { ...loginServerOf(config), proxyFor }] as const]
    }),
  )
}

function noServer(name: string): BusError {
  return new BusError('not-found', `users cannot log in at "${name}"`, { field: 'server' })
}

function toServerLogin(login: KnownLogin, used: string | undefined): ServerLogin {
  const { label, issuer, scope, demanded, connectedAt, isUsable } = login
  const isNeeded = !isUsable || demanded !== undefined
  return { label, issuer, scope, connectedAt, isNeeded, isDefault: label === used }
}
