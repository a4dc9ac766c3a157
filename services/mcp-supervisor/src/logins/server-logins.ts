import type { ServerLogin, ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { LoginHandlers } from '@mcp-host/mcp-bus/serve'
import type { Logger } from '@mcp-host/service'
import type { LoginServer, ServerConfig } from '@mcp-host/upstream'
import { beginLoginElsewhere, finishLoginElsewhere, revokeLogin } from '@mcp-host/upstream'
import { DEFAULT_LABEL } from './account.ts'
import type { HostLogins } from './host-logins.ts'
import type { LoginRecord } from './login-vault.ts'

interface ServerLoginsDeps {
  readonly logger: Logger
  readonly logins: Pick<HostLogins, 'vault' | 'pending' | 'client'>
  readonly proxyFor: LoginServer['proxyFor']
  /** The configuration of a server; `undefined` when there is none. */
  readonly configOf: (name: ServerName) => ServerConfig | undefined
}

/** Logs users in at servers: the answers to the gateways, which have the browsers. */
export function serverLogins({
  logger,
  logins: { vault, pending: starts, client },
  proxyFor,
  configOf,
}: ServerLoginsDeps): LoginHandlers {
  const find = (name: ServerName): LoginServer | undefined => {
    const config = configOf(name)
    if (config === undefined || !('auth' in config) || config.auth?.type !== 'oauth')
      return undefined
    const { url, headers, auth } = config
    return { url, headers, auth, proxyFor }
  }
  const serverAt = (name: ServerName): LoginServer => {
    const server = find(name)
    if (server !== undefined) return server
    throw new BusError('not-found', `users cannot log in at "${name}"`, { field: 'server' })
  }

  return {
    async begin({ request: { server, browser }, envelope: { principal } }) {
      const account = { server, principal, label: DEFAULT_LABEL }
      const at = serverAt(server)
      const known = await vault.storeOf(account).load()
      const begin = () => beginLoginElsewhere(at, client, known)
      const { url, pending } = await explaining(server, begin)
      await starts.keep({ account, browser, pending })
      return { url: url.href }
    },

    async finish({ request: { query, browser }, envelope: { principal } }) {
      const returned = new URL(`?${query}`, client.redirectUrl)
      const state = returned.searchParams.get('state') ?? ''
      const { account, pending } = await starts.take({ principal, browser, state })
      const { server } = account
      const at = serverAt(server)
      const login = await explaining(server, () => finishLoginElsewhere(at, pending, returned))
      await vault.add(account, login)
      const fields = { component: 'login', action: 'connected', server, principal }
      logger.info(fields, 'a user has logged in at a server')
      return { server }
    },

    async end({ request: { server, label }, envelope: { principal } }) {
      const login = await vault.remove({ server, principal, label })
      const fields = { component: 'login', action: 'disconnected', server, principal }
      logger.info(fields, 'a user has ended a login at a server')
      const at = find(server)
      if (login === undefined || at === undefined) return {}
      // It is over here in any case.
      await revokeLogin(at, login).catch((err: unknown) => {
        logger.warn({ ...fields, err }, 'an authorization server was not told that a login is over')
      })
      return {}
    },

    async list({ envelope: { principal } }) {
      return { logins: vault.of(principal).map(toServerLogin) }
    },
  }
}

function toServerLogin({ sealed, ...record }: LoginRecord): ServerLogin {
  const { server, label, issuer, scope, connectedAt } = record
  return { server, label, issuer, scope, connectedAt, isNeeded: sealed === undefined }
}

/** Tells the user what went wrong at an authorization server. */
async function explaining<T>(server: ServerName, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new BusError('unavailable', `the login at "${server}" failed: ${reason}`, {
      cause: error,
    })
  }
}
