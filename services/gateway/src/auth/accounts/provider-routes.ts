import type { IncomingMessage } from 'node:http'
import { BusError, Scope } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import { pageErrors } from '../login/pages-scope.ts'

const DISCOVERY = '/.well-known/openid-configuration'
/** Limits for the state of a client, and for all parameters of its authorization request, which are stored. */
const MAX_STATE_LENGTH = 2_048
const MAX_QUERY_LENGTH = 8_192
/** The scope of clients that request none of this host. */
const DEFAULT_SCOPE = 'mcp'

export interface ProviderRoutesDeps {
  readonly provider: (host: string | undefined) => Provider
  readonly logger: Logger
  /** Called before the library gets a request. */
  readonly prepare: (request: IncomingMessage) => Promise<void>
}

/** The endpoints of the authorization server, and the documents by which clients find them. */
export async function addProviderRoutes(
  app: FastifyInstance,
  { provider, logger, prepare }: ProviderRoutesDeps,
): Promise<void> {
  // The library reads bodies itself.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_, __, done) => done(null))

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
  await app.register(async (pages) => {
    pages.setErrorHandler(pageErrors(logger))
    pages.get('/auth/authorize', async (request, reply) => {
      const url = request.raw.url ?? ''
      checkQuery(url)
      return handle(request, reply, withScope(url))
    })
  })
  app.get('/auth/authorize/:uid', (request, reply) => handle(request, reply))
  app.get('/auth/jwks', (request, reply) => handle(request, reply))
  app.post('/auth/token', (request, reply) => handle(request, reply))
  app.post('/auth/revoke', (request, reply) => handle(request, reply))
  app.post('/auth/register', (request, reply) => handle(request, reply))
}

function checkQuery(url: string): void {
  const { query } = splitAddress(url)
  const states = new URLSearchParams(query).getAll('state')
  if (states.some((state) => state.length > MAX_STATE_LENGTH)) {
    throw new BusError('invalid', `state must have at most ${MAX_STATE_LENGTH} characters`)
  }
  if (query.length > MAX_QUERY_LENGTH) {
    const message = `the parameters must have at most ${MAX_QUERY_LENGTH} characters together`
    throw new BusError('invalid', message)
  }
}

function withScope(url: string): string {
  const { path, query } = splitAddress(url)
  const parameters = new URLSearchParams(query)
  const scopes = (parameters.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  if (scopes.some((scope) => Scope.safeParse(scope).success)) return url
  parameters.set('scope', [...scopes, DEFAULT_SCOPE].join(' '))
  return `${path}?${parameters.toString()}`
}

/** A query may have further question marks. */
function splitAddress(url: string): { readonly path: string; readonly query: string } {
  const [path = '', ...query] = url.split('?')
  return { path, query: query.join('?') }
}
