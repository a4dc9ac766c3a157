import type { Accounts } from '@mcp-host/auth'
import { accountPrincipalId } from '@mcp-host/auth'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { loggedInPage, loggedOutPage, loginPage } from '../pages/login-page.ts'
import { pageHeaders } from '../pages/page.ts'
import type { Login, LoginSessions } from '../session/login-sessions.ts'
import { ownPath } from './own-path.ts'
import { HTML, queryField } from './pages-scope.ts'

/** The client for which a user logs in. Its login needs an account of this host. */
export interface ReturnTarget {
  readonly client: string
  /** Origins besides this host to which the form may lead. */
  readonly formTargets: readonly string[]
}

/** The identity provider, as the login pages use it. */
export interface ProviderPages {
  /** Its name for users. */
  readonly name: string
  /** The path that begins its login and then leads to `returnTo`. */
  loginPath(returnTo: string | undefined): string
  /** The address that ends its own login; `undefined` when it has none or does not answer. */
  logoutUrl(login: Login): Promise<string | undefined>
}

export interface LoginRoutesDeps {
  readonly logins: LoginSessions
  readonly publicUrl: string
  /** Whether accounts of this host log in by password. */
  readonly hasPasswords: boolean
  /** The path to which a login without another target leads. */
  readonly home: string
  readonly provider: ProviderPages | undefined
  readonly describeReturn: (path: string) => Promise<ReturnTarget | undefined>
  readonly audit: Pick<GatewayAudit, 'loggedOut'>
}

/** Sends the form for a name and a password. */
export type LoginForm = (
  reply: FastifyReply,
  about: {
    readonly returnTo: string | undefined
    readonly name?: string
    readonly fault?: string
  },
) => Promise<FastifyReply>

/** Creates the function that sends the login form. The form names the client and offers the identity provider. */
export function loginForm({
  provider,
  describeReturn,
  accounts,
}: Pick<LoginRoutesDeps, 'provider' | 'describeReturn'> & {
  readonly accounts: Pick<Accounts, 'hasLogin'>
}): LoginForm {
  return async (reply, { returnTo, ...about }) => {
    const target = returnTo === undefined ? undefined : await describeReturn(returnTo)
    const offered =
      provider === undefined || target !== undefined
        ? undefined
        : { name: provider.name, path: provider.loginPath(returnTo) }
    reply.headers(pageHeaders(target?.formTargets)).type(HTML)
    return reply.send(
      loginPage({
        ...about,
        client: target?.client,
        provider: offered,
        hasAccounts: accounts.hasLogin,
        returnTo: returnTo ?? '',
      }),
    )
  }
}

/** The routes that begin and end logins of browsers, for all ways to prove an identity. */
export function addLoginRoutes(
  app: FastifyInstance,
  deps: LoginRoutesDeps & { readonly sendForm: LoginForm },
): void {
  const { logins, publicUrl, hasPasswords, home, provider, describeReturn, sendForm, audit } = deps

  app.get('/login', async ({ query, headers }, reply) => {
    const returnTo = ownPath(queryField(query, 'return'))
    const again = queryField(query, 'again')
    const login = await logins.find(headers)
    if (login !== undefined && again === undefined) {
      if (returnTo === undefined) {
        const logoutUrl = await provider?.logoutUrl(login)
        const targets = logoutUrl === undefined ? [] : [new URL(logoutUrl).origin]
        const name = login.account ?? login.principal?.id ?? ''
        const page = loggedInPage(name, {
          mcpUrl: `${publicUrl}/mcp`,
          chatPath: home === '/' ? home : undefined,
          hasClients: login.account !== undefined,
        })
        return reply.headers(pageHeaders(targets)).type(HTML).send(page)
      }
      const isGood = login.account !== undefined || (await describeReturn(returnTo)) === undefined
      if (isGood) return reply.redirect(returnTo, 303)
    }
    if (hasPasswords || provider === undefined) return sendForm(reply, { returnTo })
    return reply.redirect(provider.loginPath(returnTo), 303)
  })

  app.post('/logout', async ({ headers }, reply) => {
    const login = await logins.find(headers)
    reply.header('set-cookie', await logins.end(headers))
    const { principal, account = '' } = login ?? {}
    if (login !== undefined) audit.loggedOut(principal?.id ?? accountPrincipalId(account))
    const elsewhere = login === undefined ? undefined : await provider?.logoutUrl(login)
    return elsewhere === undefined
      ? reply.type(HTML).send(loggedOutPage())
      : reply.redirect(elsewhere, 303)
  })

  app.get('/logout', async ({ headers }, reply) => {
    // Only the form logs out, so that no link can do it.
    const login = await logins.find(headers)
    return login === undefined
      ? reply.type(HTML).send(loggedOutPage())
      : reply.redirect('/login', 303)
  })
}
