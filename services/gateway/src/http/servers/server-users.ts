import { endServerLogin, readUsersOfServer, ServerLogin, ServerName } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { LIST_LIMIT_MS, Login } from '../connections/index.ts'
import { END_LIMIT_MS } from '../connections/token-routes.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'

const UserOfServer = Login.extend({
  principal: z.string().describe('Whose login it is, as `user:ann`.'),
}).meta({ id: 'UserOfServer', description: 'A login of a user at an MCP server.' })

/** The logins of all users at a server, which admins see and end. */
export function addServerUsers(api: Api, { bus }: Pick<ServerRoutesDeps, 'bus'>): void {
  const tags = ['servers']

  api.get(
    '/servers/:server/users',
    {
      schema: {
        tags,
        operationId: 'listServerUsers',
        summary: 'List who is logged in at an MCP server',
        params: z.object({ server: ServerName }),
        response: {
          200: jsonAnswer('All of them.', z.object({ logins: z.array(UserOfServer) })),
          ...faults(400, 404, 503),
        },
      },
    },
    ({ params, envelope }) =>
      bus.call(readUsersOfServer, {}, params, { envelope, timeoutMs: LIST_LIMIT_MS }),
  )

  api.delete(
    '/servers/:server/users/:principal/:label',
    {
      schema: {
        tags,
        operationId: 'endServerUser',
        summary: 'End the login of a user at an MCP server',
        description: 'Its tokens are removed here, and revoked at the authorization server.',
        params: z.object({
          server: ServerName,
          principal: z.string().max(300),
          label: ServerLogin.shape.label.max(100),
        }),
        response: { 204: z.null().describe('It is over.'), ...faults(400, 404, 503) },
      },
    },
    async ({ params, envelope }, reply) => {
      await bus.call(endServerLogin, {}, params, { envelope, timeoutMs: END_LIMIT_MS })
      return reply.code(204).send(null)
    },
  )
}
