import { accountPrincipalId } from '@mcp-host/auth'
import type { FastifyInstance } from 'fastify'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { field, HTML } from '../login/pages-scope.ts'
import { clientsPage } from '../pages/clients-page.ts'
import { CLIENTS_PATH } from '../pages/login-page.ts'
import type { LoginSessions } from '../session/login-sessions.ts'
import type { Consents } from './consents.ts'
import type { ProviderStore } from './provider-store.ts'

export interface ClientsRoutesDeps {
  readonly logins: LoginSessions
  readonly consents: Consents
  readonly store: Pick<ProviderStore, 'withdraw' | 'hasGrant'>
  readonly audit: Pick<GatewayAudit, 'clientWithdrawn'>
}

/** The page that lists the clients that may act for a user, each with a button to withdraw this consent. */
export function addClientsRoutes(
  app: FastifyInstance,
  { logins, consents, store, audit }: ClientsRoutesDeps,
): void {
  const toLogin = `/login?return=${encodeURIComponent(CLIENTS_PATH)}`

  app.get(CLIENTS_PATH, async ({ headers }, reply) => {
    const login = await logins.find(headers)
    if (login === undefined) return reply.redirect(toLogin, 303)
    const { account = '' } = login
    const all = await consents.list(account)
    // A grant also ends when it expires, or when a refresh token is used twice.
    const isThere = await Promise.all(all.map(({ grantId }) => store.hasGrant(grantId)))
    const clients = all
      .filter((_, index) => isThere[index] === true)
      .map(({ grantId: id, clientName: name, ...about }) => ({ id, name, ...about }))
    return reply.type(HTML).send(clientsPage(account, clients, CLIENTS_PATH))
  })

  app.post(CLIENTS_PATH, async ({ headers, body }, reply) => {
    const account = (await logins.find(headers))?.account
    if (account === undefined) return reply.redirect(toLogin, 303)
    const wanted = field(body, 'client')
    const found = (await consents.list(account)).find(({ grantId }) => grantId === wanted)
    // The list has only grants of this account.
    if (found !== undefined) {
      await store.withdraw(found.grantId)
      await consents.remove(account, found.grantId)
      const { clientName: client, scopes } = found
      audit.clientWithdrawn(accountPrincipalId(account), { client, scopes })
    }
    return reply.redirect(CLIENTS_PATH, 303)
  })
}
