import type { ApiKeyRecord } from '@mcp-host/auth'
import {
  apiKeys,
  describedResource,
  keysMadeBy,
  Makers,
  newApiKey,
  resourceMetadata,
  scopesOfKey,
} from '@mcp-host/auth'
import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, Principal, PrincipalId, RoleName, Scope, SCOPES } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { Authenticator } from './authenticator.ts'
import type { Tickets } from './tickets.ts'
import { TICKET_MS } from './tickets.ts'

const KeyAbout = z
  .object({
    id: z.string().describe('Begins the key after `mh_`.'),
    name: z.string().describe('Its use.'),
    principal: PrincipalId.describe('The principal whose rights the key has.'),
    roles: z.array(RoleName).describe('Roles of the principal when it uses this key.'),
    scopes: z.array(Scope).describe('Scopes of the key.'),
    createdAt: z.number().describe('Epoch milliseconds.'),
    createdBy: PrincipalId.describe('The admin.'),
    makers: Makers.optional().describe(
      'All by which the key was made: where another key created it, also the makers of that one. It is refused while an account of them is disabled, or a key of them is not accepted.',
    ),
    owner: PrincipalId.optional().describe(
      'In keys of earlier versions that another key created: the principal that created the first one.',
    ),
    expiresAt: z.number().optional().describe('Epoch milliseconds.'),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' })

/** Characters that end a line, or steer a terminal or the direction of writing, where names are printed. */
export const STEERING = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u

const NewKey = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((name) => !STEERING.test(name), 'must not have control characters')
    .describe('Purpose of the key, for its owner.'),
  principal: PrincipalId.optional().describe('Default: `key:` and the name.'),
  roles: z.array(RoleName).max(32).default(['user']),
  scopes: z.array(Scope).min(1).default(['mcp', 'chat', 'decide']),
  expiresInDays: z.number().int().min(1).max(3_650).optional().describe('Default: never.'),
})

export interface AuthRoutesDeps {
  readonly bus: Pick<Bus, 'bucket'>
  readonly tickets: Tickets
  readonly auth: Pick<Authenticator, 'credentialOf' | 'makersOf'>
  readonly audit: Pick<GatewayAudit, 'keyChanged'>
}

/** The client's own identity, tickets for sockets, and API keys for admins. */
export function addAuthRoutes(api: Api, { bus, tickets, auth, audit }: AuthRoutesDeps): void {
  const keys = (): Promise<Bucket<ApiKeyRecord>> => bus.bucket(apiKeys)
  // The first listing begins the watch, which lasts as long as the gateway.
  let watched: Promise<BucketView<ApiKeyRecord>> | undefined
  const view = (): Promise<BucketView<ApiKeyRecord>> => {
    watched ??= keys().then((bucket) => bucket.watch())
    watched.catch(() => (watched = undefined))
    return watched
  }
  const tags = ['auth']

  api.get(
    '/me',
    {
      schema: {
        tags,
        operationId: 'getMe',
        summary: 'The principal of the credential',
        response: { 200: jsonAnswer('It.', Principal), ...faults(400) },
      },
    },
    async ({ principal }) => principal,
  )

  api.post(
    '/tickets',
    {
      schema: {
        tags,
        operationId: 'createTicket',
        summary: 'Get a ticket for one socket',
        description:
          'For browsers, which cannot send `Authorization` with a WebSocket: connect with `?ticket=…` within 30 seconds. It works once.',
        response: {
          201: jsonAnswer(
            'The ticket.',
            z.object({ ticket: z.string(), expiresInMs: z.number().int() }),
          ),
          ...faults(400, 503),
        },
      },
    },
    async ({ raw }, reply) => {
      const ticket = await tickets.issue(auth.credentialOf(raw))
      return reply.code(201).send({ ticket, expiresInMs: TICKET_MS })
    },
  )

  api.get(
    '/keys',
    {
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List the API keys',
        response: {
          200: jsonAnswer('Without their secrets.', z.object({ keys: z.array(KeyAbout) })),
          ...faults(400, 503),
        },
      },
    },
    async () => {
      const { records } = await view()
      return { keys: Array.from(records, ([id, record]) => toAbout(id, record)) }
    },
  )

  api.post(
    '/keys',
    {
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create an API key',
        body: NewKey,
        response: {
          201: jsonAnswer(
            'The key, which is shown this once.',
            KeyAbout.extend({ key: z.string() }),
          ),
          ...faults(400, 413, 415, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { name, principal = `key:${name.replaceAll(/\s+/g, '-')}`, ...body } = request.body
      const { roles, scopes, expiresInDays } = body
      const now = Date.now()
      const bucket = await keys()
      const made = newApiKey(
        {
          name,
          principal: PrincipalId.parse(principal),
          roles,
          scopes,
          createdBy: request.principal.id,
          makers: auth.makersOf(request.raw, request.principal),
          ...(expiresInDays === undefined ? {} : { expiresAt: now + expiresInDays * 86_400_000 }),
        },
        now,
      )
      await audit.keyChanged('key-created', request.principal, toAbout(made.id, made.record))
      await bucket.put(made.id, made.record, { revision: 0 })
      return reply.code(201).send({ ...toAbout(made.id, made.record), key: made.key })
    },
  )

  api.delete(
    '/keys/:id',
    {
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke an API key, and the keys that it made, at all gateways',
        params: z.object({ id: z.string().regex(/^[0-9a-f]{12}$/, 'must be the id of a key') }),
        response: {
          204: z.undefined().describe('It opens nothing any more.'),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { id }, principal }, reply) => {
      const bucket = await keys()
      if ((await bucket.get(id)) === undefined) {
        throw new BusError('not-found', `id: there is no API key "${id}"`, { field: 'id' })
      }
      const made = keysMadeBy(id, (await view()).records)
      await audit.keyChanged('key-revoked', principal, { id, ...(made.length > 0 && { made }) })
      for (const each of [id, ...made]) await bucket.remove(each)
      return reply.code(204).send()
    },
  )
}

/** The metadata documents in which MCP clients find the authorization server (RFC 9728). */
export function addResourceMetadata(app: FastifyInstance, auth: Authenticator): void {
  app.get('/.well-known/oauth-protected-resource*', async ({ url, headers }, reply) => {
    const [path = ''] = url.split('?', 1)
    const resource = describedResource(path)
    const isKnown =
      resource === '/' || /^\/mcp(\/(servers|bundles)\/[^/]+)?(\/ws)?$/.test(resource ?? '')
    if (resource === undefined || !isKnown || !auth.isOn) {
      throw new BusError('not-found', 'there is no such protected resource')
    }
    const address = auth.urlOf(resource === '/' ? '' : resource, headers.host)
    // Clients that find no other hint request all of these; `decide` is for those that name it.
    const scopes: readonly Scope[] =
      resource === '/' ? SCOPES.filter((each) => each !== 'decide') : ['mcp']
    reply.header('access-control-allow-origin', '*').header('cache-control', 'public, max-age=300')
    return resourceMetadata(address, auth.authorizationServers(headers.host), scopes)
  })
}

function toAbout(id: string, record: ApiKeyRecord): z.infer<typeof KeyAbout> {
  const { digest: _, namesDecide: __, ...about } = record
  return { id, ...about, scopes: scopesOfKey(record) }
}
