import { AuthError } from '@mcp-host/auth'
import type { Envelope, Principal } from '@mcp-host/contracts'
import { BusError, callerAt, LOCAL, newEnvelope, NOBODY } from '@mcp-host/contracts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { accessOf, checkAccess, isOpen } from './access.ts'
import type { GatewayEvents } from '../events.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { GatewayLimits } from '../limits/gateway-limits.ts'
import type { Authenticator } from './authenticator.ts'
import type { BrowserRequest } from './session/login-sessions.ts'
import type { ConnectionGuard } from './connection-guard.ts'
import type { Tickets } from './tickets.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client. On public routes it is `NOBODY` without a valid credential. */
    principal: Principal
    /** Of the messages that the request causes. Its trace is that of the header `traceparent`, if there is one. */
    readonly envelope: Envelope
  }
}

export interface AuthHooksDeps {
  readonly auth: Authenticator
  readonly tickets: Tickets
  readonly guard: Pick<ConnectionGuard, 'admit' | 'watchRequest'>
  readonly limits: Pick<GatewayLimits, 'connection' | 'request' | 'socket' | 'addressOf'>
  readonly audit: Pick<GatewayAudit, 'credentialRefused'>
  readonly events: Pick<GatewayEvents, 'authenticated'>
}

/**
 * Authenticates every request and applies the limits of its client before the handler of the route runs. Adding a route
 * that is not in the table of `access.ts` throws, so that no route is open by mistake.
 */
export function addAuthHooks(
  app: FastifyInstance,
  { auth, tickets, guard, limits, audit, events }: AuthHooksDeps,
): void {
  const admit = async ({ raw, ws, query }: FastifyRequest, path: string): Promise<Principal> => {
    // A ticket opens sockets only, whatever a plain request has as its header Upgrade.
    const ticket = ws ? ticketOf(query) : undefined
    if (ticket !== undefined) {
      const admission = await tickets.redeem(ticket)
      guard.admit(raw, admission)
      return admission.principal
    }
    const principal = await auth.authenticate(raw, path)
    const credential = ws ? auth.credentialOf(raw) : undefined
    if (credential !== undefined) guard.admit(raw, { credential, principal })
    return principal
  }
  // Set below for every request.
  app.decorateRequest('principal')
  app.decorateRequest('envelope', { getter: envelopeOf })
  app.addHook('onRoute', ({ url }) => {
    if (accessOf(url) === undefined) throw new Error(`access.ts has no line for ${url}`)
  })
  app.addHook('onRequest', async (request, reply) => {
    const { routeOptions, url } = request
    const access = accessOf(routeOptions.url ?? '*') ?? 'admin'
    const [path = ''] = url.split('?', 1)
    if (!isFree(request)) await limits.connection(request.raw)
    if (!auth.isOn) request.principal = LOCAL
    else if (isOpen(access)) {
      // A valid credential shows more of a public page. An invalid one is ignored.
      request.principal = await authenticateVisitor(auth, request.raw, path)
    } else {
      try {
        request.principal = await admit(request, path)
        checkAccess(request.principal, access)
        events.authenticated('accepted')
        // Any answer may last, so no list of routes decides.
        if (!request.ws) guard.watchRequest(reply.raw, request.raw, request.principal)
      } catch (error) {
        recordRefusal({ audit, events }, limits.addressOf(request.raw), path, error)
        throw error
      }
    }
    if (isOpen(access)) return
    await limits.request(request.principal)
    if (request.ws) limits.socket(request.principal, request.raw.socket)
  })
}

/** Not counted without a credential: probes are never refused by a limit, and one page has many assets. */
const FREE: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/assets/:file'])

function isFree({ routeOptions, headers, query }: FastifyRequest): boolean {
  const { authorization, cookie } = headers
  const isAnonymous = authorization === undefined && cookie === undefined
  return FREE.has(routeOptions.url) && isAnonymous && ticketOf(query) === undefined
}

const envelopes = new WeakMap<FastifyRequest, Envelope>()

function envelopeOf(this: FastifyRequest): Envelope {
  const known = envelopes.get(this)
  if (known !== undefined) return known
  const { principal, headers } = this
  const { traceparent } = headers
  const trace = typeof traceparent === 'string' ? traceparent : undefined
  const envelope = newEnvelope(callerAt('http', principal), trace)
  envelopes.set(this, envelope)
  return envelope
}

async function authenticateVisitor(
  auth: Authenticator,
  request: BrowserRequest,
  path: string,
): Promise<Principal> {
  const { authorization, cookie } = request.headers
  if (authorization === undefined && cookie === undefined) return NOBODY
  try {
    return await auth.authenticate(request, path)
  } catch {
    return NOBODY
  }
}

/**
 * Counts a refused credential, and records why it was refused. A client without a credential is only counted, since it
 * has not begun to authenticate.
 */
export function recordRefusal(
  { audit, events }: Pick<AuthHooksDeps, 'audit' | 'events'>,
  address: string,
  path: string,
  error: unknown,
): void {
  const { code, message } = BusError.from(error)
  if (code !== 'unauthenticated' && code !== 'denied') return
  const isMissing = error instanceof AuthError && error.fault === 'missing'
  events.authenticated(isMissing ? 'missing' : code === 'denied' ? 'denied' : 'refused')
  if (!isMissing) audit.credentialRefused(address, path, message)
}

function ticketOf(query: unknown): string | undefined {
  const { ticket } = query as { readonly ticket?: unknown }
  return typeof ticket === 'string' ? ticket : undefined
}
