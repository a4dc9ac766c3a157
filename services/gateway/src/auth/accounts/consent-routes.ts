import type { Accounts } from '@mcp-host/auth'
import { accountPrincipalId } from '@mcp-host/auth'
import type { Scope } from '@mcp-host/contracts'
import { BusError, hasAdminRole } from '@mcp-host/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Interaction, InteractionResults, Provider } from 'oidc-provider'
import { errors } from 'oidc-provider'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { consentPage } from '../pages/consent-page.ts'
import { pageHeaders } from '../pages/page.ts'
import type { Login, LoginSessions } from '../session/login-sessions.ts'
import {
  authorizeAgain,
  INTERACTION_PATH,
  isFresh,
  parameterOf,
  targetOf,
  toLogin,
} from './interaction.ts'
import type { Consents } from './consents.ts'
import { field, HTML } from '../login/pages-scope.ts'
import type { ProviderStore } from './provider-store.ts'

const GONE = 'This login has expired. Go back to the program that sent you here and connect again.'

export interface ConsentRoutesDeps {
  readonly provider: (host: string | undefined) => Provider
  readonly accounts: Accounts
  readonly logins: LoginSessions
  readonly store: ProviderStore
  readonly consents: Consents
  readonly audit: Pick<GatewayAudit, 'clientAllowed'>
}

/** The steps of an authorization that need the user: the login and the consent. */
export function addConsentRoutes(app: FastifyInstance, deps: ConsentRoutesDeps): void {
  const { provider, logins, store } = deps

  app.get<{ Params: { uid: string } }>(`${INTERACTION_PATH}:uid`, async (request, reply) => {
    const interaction = await find(deps, request, reply)
    const login = await logins.find(request.headers)
    if (interaction.prompt.name === 'login') {
      if (login?.account === undefined) return reply.redirect(toLogin(interaction), 303)
      if (isFresh(interaction, login)) return finish(deps, request, reply, loginResult(login))
      return reply.redirect(`${toLogin(interaction)}&again=1`, 303)
    }
    if (login?.account === undefined || login.account !== interaction.session?.accountId) {
      return reply.redirect(authorizeAgain(interaction), 303)
    }
    const target = await targetOf(provider(request.headers.host), interaction)
    const { scopes } = asked(interaction, deps.accounts)
    reply.headers(pageHeaders(target.formTargets)).type(HTML)
    return reply.send(
      consentPage({
        uid: interaction.uid,
        account: login.account,
        clientName: target.client,
        clientHost: target.clientHost,
        redirect: target.redirect,
        scopes,
      }),
    )
  })

  app.post<{ Params: { uid: string } }>(`${INTERACTION_PATH}:uid`, async (request, reply) => {
    const interaction = await find(deps, request, reply)
    const login = await logins.find(request.headers)
    const decision = field(request.body, 'decision')
    if (decision === 'switch') {
      reply.header('set-cookie', await logins.end(request.headers))
      return reply.redirect(`/login?return=${encodeURIComponent(authorizeAgain(interaction))}`, 303)
    }
    const isSame = login?.account === interaction.session?.accountId
    if (interaction.prompt.name !== 'consent' || login?.account === undefined || !isSame) {
      return reply.redirect(authorizeAgain(interaction), 303)
    }
    const { scopes } = asked(interaction, deps.accounts)
    if (decision !== 'allow' || scopes.length === 0) {
      const error_description =
        decision === 'allow' ? 'this account may do nothing of it' : 'the user did not allow it'
      return finish(deps, request, reply, { error: 'access_denied', error_description })
    }
    const grantId = await grant(deps, provider(request.headers.host), interaction)
    const client = parameterOf(interaction, 'client_id')
    deps.audit.clientAllowed(accountPrincipalId(login.account), { client, scopes })
    await store.keepClient(client)
    await remember(deps, request, interaction, { grantId, account: login.account, scopes })
    return finish(deps, request, reply, { consent: { grantId } })
  })
}

/** Lists the grant among the consents that the user can withdraw. */
async function remember(
  { provider, consents, store }: ConsentRoutesDeps,
  { headers }: FastifyRequest,
  interaction: Interaction,
  about: { readonly grantId: string; readonly account: string; readonly scopes: readonly string[] },
): Promise<void> {
  const { client: clientName } = await targetOf(provider(headers.host), interaction)
  const { account, grantId } = about
  const consent = { grantId, clientName, scopes: [...about.scopes], allowedAt: Date.now() }
  for (const old of await consents.add(account, consent)) await store.withdraw(old.grantId)
}

async function find(
  { provider }: ConsentRoutesDeps,
  { raw, params }: FastifyRequest<{ Params: { uid: string } }>,
  { raw: response }: FastifyReply,
): Promise<Interaction> {
  try {
    const interaction = await provider(raw.headers.host).interactionDetails(raw, response)
    if (interaction.uid === params.uid) return interaction
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error
  }
  throw new BusError('not-found', GONE)
}

async function finish(
  { provider }: ConsentRoutesDeps,
  { raw }: FastifyRequest,
  reply: FastifyReply,
  result: InteractionResults,
): Promise<FastifyReply> {
  const options = { mergeWithLastSubmission: false }
  const server = provider(raw.headers.host)
  return reply.redirect(await server.interactionResult(raw, reply.raw, result, options), 303)
}

function loginResult({ account = '', loggedInAt }: Login): InteractionResults {
  return { login: { accountId: account, ts: Math.floor(loggedInAt / 1_000), remember: true } }
}

interface Asked {
  /** The requested scopes that the account may have. */
  readonly scopes: readonly string[]
  readonly rejected: readonly string[]
}

function asked(interaction: Interaction, accounts: Accounts): Asked {
  const account = accounts.find(interaction.session?.accountId ?? '')
  const roles = account?.roles ?? []
  const needs: Partial<Record<string, boolean>> = {
    admin: hasAdminRole({ roles }),
    audit: hasAdminRole({ roles }) || roles.includes('auditor'),
  } satisfies Partial<Record<Scope, boolean>>
  const all = parameterOf(interaction, 'scope').split(' ')
  return {
    scopes: all.filter((scope) => needs[scope] !== false),
    rejected: all.filter((scope) => needs[scope] === false),
  }
}

/** Adds the requested scopes to the grant of the client, and returns the id of the grant. */
async function grant(
  { accounts }: ConsentRoutesDeps,
  { Grant }: Provider,
  interaction: Interaction,
): Promise<string> {
  const { grantId, session, prompt } = interaction
  const accountId = session?.accountId ?? ''
  const known = grantId === undefined ? undefined : await Grant.find(grantId)
  const target = known ?? new Grant({ accountId, clientId: parameterOf(interaction, 'client_id') })
  const { rejected } = asked(interaction, accounts)
  const split = (scopes: readonly string[]) => ({
    good: scopes.filter((scope) => !rejected.includes(scope)).join(' '),
    bad: scopes.filter((scope) => rejected.includes(scope)).join(' '),
  })
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details as {
    missingOIDCScope?: string[]
    missingResourceScopes?: Record<string, string[]>
  }
  const own = split(missingOIDCScope)
  if (own.good !== '') target.addOIDCScope(own.good)
  if (own.bad !== '') target.rejectOIDCScope(own.bad)
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    const { good, bad } = split(scopes)
    if (good !== '') target.addResourceScope(resource, good)
    if (bad !== '') target.rejectResourceScope(resource, bad)
  }
  return target.save()
}
