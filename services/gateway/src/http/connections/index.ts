import type { Bus } from '@mcp-host/bus'
import {
  changeServerLogin,
  endServerLogin,
  listServerLogins,
  LoginServer,
  LoginChange,
  ServerLogin,
  ServerName,
} from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import { needUser } from './need-user.ts'
import { addTokenRoutes, END_LIMIT_MS } from './token-routes.ts'

export const LIST_LIMIT_MS = 10_000

/** A login as answers show it. */
export const Login = z.object({
  label: ServerLogin.shape.label.describe('Tells several logins at the server apart.'),
  issuer: ServerLogin.shape.issuer.describe('The authorization server.'),
  scope: ServerLogin.shape.scope.describe('Scopes that were asked for, separated by spaces.'),
  isNeeded: ServerLogin.shape.isNeeded.describe('Whether you have to log in again.'),
  isDefault: ServerLogin.shape.isDefault.describe(
    'Whether it is the default login, which every call has that names none.',
  ),
  connectedAt: ServerLogin.shape.connectedAt.describe('Epoch milliseconds.'),
})

const LoginOf = z.object({ server: ServerName, label: z.string().max(100) })

const Change = describeFields(LoginChange, {
  label: 'Another label. Rules and chats that name the old one must be changed.',
  isDefault: 'Makes it the default login, which every call has that names none.',
}).refine(({ label, isDefault }) => label !== undefined || isDefault !== undefined, {
  error: 'needs a label, or isDefault',
  path: ['label'],
})

const Connection = z
  .object({
    server: LoginServer.shape.server.describe('The MCP server.'),
    url: LoginServer.shape.url.describe('Its address.'),
    connectPath: z
      .string()
      .optional()
      .describe('The page at which to log in; absent where no browser is logged in at this host.'),
    logins: z.array(Login).describe('Yours.'),
  })
  .meta({ id: 'Connection', description: 'An MCP server at which users log in.' })

export interface ConnectionRoutesDeps {
  readonly bus: Pick<Bus, 'call'>
  /** Whether there are pages at which users log in at servers. */
  readonly hasConnectPages: boolean
}

/** The logins of a user at MCP servers. */
export function addConnectionRoutes(
  api: Api,
  { bus, hasConnectPages }: ConnectionRoutesDeps,
): void {
  const tags = ['connections']

  api.get(
    '/connections',
    {
      schema: {
        tags,
        operationId: 'listConnections',
        summary: 'List the MCP servers at which users log in, with your logins',
        response: {
          200: jsonAnswer('All of them.', z.object({ connections: z.array(Connection) })),
          ...faults(400, 503),
        },
      },
    },
    async ({ envelope }) => {
      const options = { envelope, timeoutMs: LIST_LIMIT_MS }
      const { servers } = await bus.call(listServerLogins, {}, {}, options)
      const connections = servers.map((each) =>
        hasConnectPages ? { ...each, connectPath: `/connect/${each.server}` } : each,
      )
      return { connections }
    },
  )

  addTokenRoutes(api, bus)

  api.patch(
    '/connections/:server/:label',
    {
      schema: {
        tags,
        operationId: 'changeConnection',
        summary: 'Rename one of your logins at an MCP server, or make it the default one',
        params: LoginOf,
        body: Change,
        response: { 204: z.null().describe('It is changed.'), ...faults(400, 404, 409, 503) },
      },
    },
    async ({ params, body: change, envelope, principal }, reply) => {
      needUser(principal)
      const options = { envelope, timeoutMs: END_LIMIT_MS }
      await bus.call(changeServerLogin, {}, { ...params, change }, options)
      return reply.code(204).send(null)
    },
  )

  api.delete(
    '/connections/:server/:label',
    {
      schema: {
        tags,
        operationId: 'endConnection',
        summary: 'End one of your logins at an MCP server',
        description:
          'Its tokens are removed here, and revoked at the authorization server, where it takes that.',
        params: LoginOf,
        response: { 204: z.null().describe('It is over.'), ...faults(400, 404, 503) },
      },
    },
    async ({ params, envelope, principal }, reply) => {
      needUser(principal)
      await bus.call(endServerLogin, {}, params, { envelope, timeoutMs: END_LIMIT_MS })
      return reply.code(204).send(null)
    },
  )
}
