import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock, Counter } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { withoutSecrets } from '@mcp-host/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorAnswer } from '../../edge/error-reply.ts'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { Attempts } from '../login/attempts.ts'
import { ownPath } from '../login/own-path.ts'
import { HTML, queryField } from '../login/pages-scope.ts'
import { errorPage } from '../pages/error-page.ts'
import { readCookie } from '../session/cookies.ts'
import type { MakerCheck } from '../maker-check.ts'
import type { LoginSessions } from '../session/login-sessions.ts'
import type { IdentityProvider, ProvenUser } from './identity-provider.ts'
import { CALLBACK_PATH } from './identity-provider.ts'
import type { LoginStarts } from './login-starts.ts'
import { START_MS } from './login-starts.ts'

const LOGIN_PATH = '/login/oidc'
/** The lifetime of a login here. A user who is still logged in at the provider gets the next one without a form. */
const LOGIN_MS = 12 * 3_600_000
const WINDOW_MS = 15 * 60_000
/** Limit for the logins that one address may begin in a window, since each is stored. */
const MAX_STARTS = 1_000
const MAX_RETURN_LENGTH = 4_096
const BROWSER = /^[\w-]{43}$/
const FOREIGN =
  'This login was not begun in this browser, or it has expired, or it was used already.'

const DISABLED = 'This user is disabled at this host. Ask its admin.'

export interface ProviderRoutesDeps {
  readonly provider: IdentityProvider
  readonly starts: LoginStarts
  readonly logins: LoginSessions
  readonly makers: Pick<MakerCheck, 'isDisabled'>
  readonly attempts: Attempts
  readonly counter: Promise<Counter>
  readonly clock: Pick<Clock, 'now'>
  readonly publicUrl: string
  /** The path to which a login without another target leads. */
  readonly home: string
  readonly addressOf: (request: IncomingMessage) => string
  readonly audit: Pick<GatewayAudit, 'loggedIn' | 'credentialRefused'>
  readonly logger: Pick<Logger, 'warn'>
}

/** The path that begins a login at the provider and then leads to `returnTo`. */
export function providerLoginPath(returnTo: string | undefined): string {
  return returnTo === undefined
    ? LOGIN_PATH
    : `${LOGIN_PATH}?return=${encodeURIComponent(returnTo)}`
}

/** The routes that send a browser to the identity provider and take it back. */
export function addProviderLogin(app: FastifyInstance, deps: ProviderRoutesDeps): void {
  const { provider, starts, logins, publicUrl, home } = deps
  const cookie = logins.startCookie()

  app.get(LOGIN_PATH, async (request, reply) => {
    const { headers, query, url } = request
    // The cookie must be set for the host name to which the provider sends browsers back.
    if (headers.host !== new URL(publicUrl).host) return reply.redirect(publicUrl + url, 303)
    try {
      await checkStarts(deps, deps.addressOf(request.raw))
      const { state, url: address, nonce, verifier } = await provider.begin()
      const known = readCookie(headers, cookie.name) ?? ''
      const browser = BROWSER.test(known) ? known : randomBytes(32).toString('base64url')
      const returnTo = ownPath(queryField(query, 'return')?.slice(0, MAX_RETURN_LENGTH))
      const about = { nonce, verifier, ...(returnTo === undefined ? {} : { returnTo }) }
      await starts.add(state, browser, about)
      reply.header('set-cookie', cookie.set(browser, START_MS))
      return await reply.redirect(address, 303)
    } catch (error) {
      return refuse(deps, reply, error)
    }
  })

  app.get(CALLBACK_PATH, async (request, reply) => {
    try {
      const { user, returnTo } = await comeBack(deps, request, cookie.name)
      deps.audit.loggedIn(user.principal)
      reply.header('set-cookie', await logins.begin(user, LOGIN_MS))
      return await reply.redirect(returnTo ?? home, 303)
    } catch (error) {
      return refuse(deps, reply, error)
    }
  })
}

async function checkStarts({ counter, clock }: ProviderRoutesDeps, address: string): Promise<void> {
  const about = { window: Math.floor(clock.now() / WINDOW_MS), windowMs: WINDOW_MS }
  const sum = await (await counter).add(`login:start:${address}`, 1, about)
  if (sum > MAX_STARTS) throw new BusError('exhausted', 'Too many logins. Try again later.')
}

async function comeBack(
  { provider, starts, makers, attempts, addressOf, audit }: ProviderRoutesDeps,
  { raw, headers, url, query }: FastifyRequest,
  cookieName: string,
): Promise<{ readonly user: ProvenUser; readonly returnTo: string | undefined }> {
  const address = addressOf(raw)
  let giveBack: (() => Promise<void>) | undefined
  try {
    giveBack = await attempts.begin(address)
    const state = queryField(query, 'state') ?? ''
    const start = await starts.take(state, readCookie(headers, cookieName) ?? '')
    if (start === undefined) throw new BusError('denied', FOREIGN)
    const user = await provider.finish(url, { ...start, state })
    if (makers.isDisabled(user.principal)) throw new BusError('denied', DISABLED)
    await giveBack()
    return { user, returnTo: start.returnTo }
  } catch (error) {
    const { code, message } = BusError.from(error)
    if (code === 'denied' || code === 'exhausted')
      audit.credentialRefused(address, CALLBACK_PATH, message)
    // The fault that ended the login is told, not that of giving it back.
    if (code !== 'denied') await giveBack?.().catch(() => undefined)
    throw error
  }
}

/** Sends an error page: 403 for a refusal, 429 after too many logins, 503 while the provider does not work. */
function refuse({ logger }: ProviderRoutesDeps, reply: FastifyReply, error: unknown): FastifyReply {
  const fault = BusError.from(error)
  if (fault.code === 'internal') throw error
  const fields = { component: 'login', action: 'identity-provider', reason: reasonOf(fault) }
  logger.warn(fields, 'a login at the identity provider failed')
  const { status, headers } = errorAnswer(fault)
  reply.code(status).headers(headers).type(HTML)
  return reply.send(
    errorPage({ title: 'You are not logged in', text: fault.message, again: '/login' }),
  )
}

/**
 * The reason for the log. Errors of the provider may have details that the user is not told, but no secrets of this
 * host.
 */
function reasonOf({ message, cause }: BusError): string {
  if (!(cause instanceof Error)) return message
  const more = 'error_description' in cause ? [cause.error_description] : [cause.cause]
  const texts = more.flatMap((each) =>
    each instanceof Error ? each.message : typeof each === 'string' ? each : [],
  )
  return withoutSecrets([message, cause.message, ...texts].join(': '))
}
