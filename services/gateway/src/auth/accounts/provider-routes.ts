import type { IncomingMessage } from 'node:http'
import { BusError, Scope } from '@mcp-host/contracts'
import type { Counter } from '@mcp-host/bus'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import type { GatewayLimits } from '../../limits/gateway-limits.ts'

const DISCOVERY = '/.well-known/openid-configuration'
const HOUR_MS = 3_600_000
/** The limit for registrations from one address in an hour. */
const MAX_REGISTRATIONS = 100
/** The scope of clients that request none of this host. */
const DEFAULT_SCOPE = 'mcp'

export interface ProviderRoutesDeps {
  readonly provider: (host: string | undefined) => Provider
  readonly counter: Promise<Counter>
  readonly limits: Pick<GatewayLimits, 'addressOf' | 'connection'>
  /** Called before the library gets a request. */
  readonly prepare: (request: IncomingMessage) => Promise<void>
}

/** The endpoints of the authorization server, and the documents by which clients find them. */
export async function addProviderRoutes(
  app: FastifyInstance,
  { provider, counter, limits, prepare }: ProviderRoutesDeps,
): Promise<void> {
  // The library reads bodies itself.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_, __, done) => done(null))
  app.addHook('onRequest', async ({ raw }) => limits.connection(raw))

  const handle = async (
    { raw }: FastifyRequest,
    reply: FastifyReply,
    url = raw.url ?? '',
  ): Promise<void> => {
    await prepare(raw)
    const server = provider(raw.headers.host)
    const { protocol, host } = new URL(server.issuer)
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    raw.url = url
    raw.headers['x-forwarded-proto'] = protocol.replace(':', '')
    raw.headers['x-forwarded-host'] = host
    await server.callback()(raw, reply.raw)
  }

  app.get(DISCOVERY, (request, reply) => handle(request, reply))
  // OAuth clients look for the same document at another address.
  app.get('/.well-known/oauth-authorization-server', (request, reply) =>
    handle(request, reply, DISCOVERY),
  )
  app.get('/auth/authorize', (request, reply) =>
    handle(request, reply, withScope(request.raw.url ?? '')),
  )
  app.get('/auth/authorize/:uid', (request, reply) => handle(request, reply))
  app.get('/auth/jwks', (request, reply) => handle(request, reply))
  app.post('/auth/token', (request, reply) => handle(request, reply))
  app.post('/auth/revoke', (request, reply) => handle(request, reply))
  app.post('/auth/register', async (request, reply) => {
    const address = limits.addressOf(request.raw)
    const about = { window: Math.floor(Date.now() / HOUR_MS), windowMs: HOUR_MS }
    const sum = await (await counter).add(`register:${address}`, 1, about)
    if (sum > MAX_REGISTRATIONS) {
      throw new BusError('exhausted', 'too many clients were registered; try again in an hour')
    }
    return handle(request, reply)
  })
}

function withScope(url: string): string {
  const [path = '', query = ''] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  const scopes = (parameters.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  if (scopes.some((scope) => Scope.safeParse(scope).success)) return url
  parameters.set('scope', [...scopes, DEFAULT_SCOPE].join(' '))
  return `${path}?${parameters.toString()}`
}
