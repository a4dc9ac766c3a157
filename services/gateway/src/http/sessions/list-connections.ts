import type { Bus } from '@mcp-host/bus'
import { ConnectionInfo } from '@mcp-host/contracts'
import { z } from 'zod'
import type { LiveConnections } from '../../connection/live-connections.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import type { CheckSessionDeps } from '../../session/check-session.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from './session-params.ts'

const Connection = describeFields(ConnectionInfo, {
  clientId: 'Given by the gateway.',
  gateway: 'The process that has the socket.',
  connectedAt: 'Epoch milliseconds.',
  lastActiveAt: 'When it last sent something, in epoch milliseconds.',
  userAgent: 'As the client said.',
})

export interface ListConnectionsDeps extends CheckSessionDeps {
  readonly bus: Bus
  readonly connections: Pick<LiveConnections, 'of'>
}

export function addListConnections(api: Api, deps: ListConnectionsDeps): void {
  api.get(
    '/session/:id/connections',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'listConnections',
        summary: 'Sockets that are open on a session, at all gateways that answer',
        params: SessionParams,
        response: {
          200: jsonAnswer('They.', z.object({ connections: z.array(Connection) })),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { id }, principal }) => {
      await checkSession(deps, id, principal)
      return { connections: await deps.connections.of(id) }
    },
  )
}
