import { createHash, randomBytes } from 'node:crypto'
import type { Bus } from '@mcp-host/bus'
import type { Envelope } from '@mcp-host/contracts'
import {
  AccountLabel,
  beginServerLogin,
  BusError,
  DEFAULT_LABEL,
  endServerLogin,
  finishServerLogin,
  listServerLogins,
  ServerName,
} from '@mcp-host/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GatewayLimits } from '../../limits/gateway-limits.ts'
import { isUser } from '../access.ts'
import { STEERING } from '../auth-routes.ts'
import {
  addPages,
  addStyle,
  field,
  HTML,
  type PagesDeps,
  queryField,
} from '../login/pages-scope.ts'
import { connectedPage, connectPage, continuePage } from '../pages/connect-page.ts'
import { errorPage } from '../pages/error-page.ts'
import { PAGE_HEADERS } from '../pages/page.ts'
import { readCookie, setCookie } from '../session/cookies.ts'

/** The time for a login, whose end the supervisor decides. */
const LOGIN_MS = 600_000
/** For all that a step asks of an authorization server. */
const STEP_LIMIT_MS = 60_000
const BROWSER = /^[\w-]{43}$/

export interface ConnectPagesDeps extends PagesDeps {
  readonly bus: Pick<Bus, 'call'>
  readonly limits: Pick<GatewayLimits, 'request'>
}

type Caller = Pick<FastifyRequest, 'principal' | 'envelope' | 'url'>

/** Adds the pages at which users log in at MCP servers. A login begins only by the form of this host. */
export async function addConnectPages(app: FastifyInstance, deps: ConnectPagesDeps): Promise<void> {
  await app.register(async (scope) => {
    addPages(scope, deps)
    addStyle(scope)
    addConnectRoutes(scope, deps)
  })
}

/** Says why there are no such pages, at the address that callers are told. */
export function addNoConnectPages(app: FastifyInstance): void {
  app.get('/connect/:server', (_, reply) =>
    reply
      .code(404)
      .headers(PAGE_HEADERS)
      .type(HTML)
      .send(
        errorPage({
          title: 'Nobody can log in here',
          text: 'This host knows its users by API keys alone.',
          advice:
            'Its operator has to start it with AUTH=local,keys, so that browsers log in at it.',
        }),
      ),
  )
}

function addConnectRoutes(app: FastifyInstance, { bus, origins, limits }: ConnectPagesDeps): void {
  const isSecure = origins[0]?.startsWith('https:') === true
  const cookie = `${isSecure ? '__Host-' : ''}mcp-host-connect`
  const options = (envelope: Envelope) => ({ envelope, timeoutMs: STEP_LIMIT_MS })

  /** Whether the request has a user; otherwise its browser is sent to the login of this host. */
  const isKnown = async ({ principal, url }: Caller, reply: FastifyReply): Promise<boolean> => {
    if (isUser(principal)) {
      await limits.request(principal)
      return true
    }
    await reply.redirect(`/login?return=${encodeURIComponent(url)}`, 303)
    return false
  }

  app.get<{ Params: { server: string } }>('/connect/:server', async (request, reply) => {
    if (!(await isKnown(request, reply))) return reply
    const server = serverIn(request.params)
    const { envelope, principal } = request
    const { servers } = await bus.call(listServerLogins, {}, {}, options(envelope))
    const known = servers.find((each) => each.server === server)
    if (known === undefined) throw new BusError('not-found', `Nobody logs in at "${server}".`)
    const label = labelIn(queryField(request.query, 'account'))
    const { logins } = known
    return reply
      .type(HTML)
      .send(connectPage({ server, url: known.url, user: principal.id, label, logins }))
  })

  app.post<{ Params: { server: string } }>('/connect/:server', async (request, reply) => {
    if (!(await isKnown(request, reply))) return reply
    const server = serverIn(request.params)
    const { envelope, headers, body } = request
    const label = labelIn(field(body, 'account')) ?? DEFAULT_LABEL
    if (field(body, 'decision') === 'disconnect') {
      await bus.call(endServerLogin, {}, { server, label }, options(envelope))
      return reply.redirect(`/connect/${server}`, 303)
    }
    const known = readCookie(headers, cookie) ?? ''
    const browser = BROWSER.test(known) ? known : randomBytes(32).toString('base64url')
    const begin = { server, label, browser: digest(browser) }
    const { url } = await bus.call(beginServerLogin, {}, begin, options(envelope))
    reply.header('set-cookie', setCookie(cookie, browser, { isSecure, maxAgeMs: LOGIN_MS }))
    // No redirect: browsers would check it against the targets of the form, which end at this host.
    return reply.header('refresh', `0; url=${url}`).type(HTML).send(continuePage({ server, url }))
  })

  // A probe must not use up the answer.
  const noProbe = { exposeHeadRoute: false }
  app.get<{ Params: { server: string } }>('/connected/:server', noProbe, async (request, reply) => {
    if (!(await isKnown(request, reply))) return reply
    const server = serverIn(request.params)
    const { envelope, headers, url } = request
    const query = new URL(url, origins[0]).search.slice(1)
    const finish = { server, query, browser: digest(readCookie(headers, cookie) ?? '') }
    await bus.call(finishServerLogin, {}, finish, options(envelope))
    // The address bar shall not have the code, and a reload shall not send it again.
    return reply.redirect(`/connected/${encodeURIComponent(server)}/done`, 303)
  })

  app.get<{ Params: { server: string } }>('/connected/:server/done', async (request, reply) => {
    if (!(await isKnown(request, reply))) return reply
    return reply.type(HTML).send(connectedPage(serverIn(request.params)))
  })
}

function serverIn({ server }: { readonly server: string }): ServerName {
  const parsed = ServerName.safeParse(server)
  if (parsed.success) return parsed.data
  throw new BusError('not-found', 'there is no such MCP server', { field: 'server' })
}

/** The name of one of several logins; `undefined` for the only one. */
function labelIn(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const parsed = AccountLabel.safeParse(text)
  if (parsed.success && !STEERING.test(text)) return parsed.data
  throw new BusError('invalid', 'account: must have 1 to 60 characters', { field: 'account' })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
