import { ServerName } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askSupervisors, Outcome } from './ask-supervisors.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'
import { supervisorsOf } from './supervisors-of.ts'

const Restarted = z
  .object({ outcomes: z.array(Outcome).describe('One for each supervisor that runs the server.') })
  .meta({ id: 'RestartedServer', description: 'What a restart of a server did.' })

export function addRestartServer(api: Api, { bus, catalog, audit }: ServerRoutesDeps): void {
  api.post(
    '/servers/:server/restart',
    {
      schema: {
        tags: ['servers'],
        operationId: 'restartServer',
        summary: 'Restart an MCP server at every supervisor that runs it',
        description: 'Calls in flight may end first; the answer comes when the server was stopped.',
        params: z.object({ server: ServerName }),
        response: { 200: jsonAnswer('What it did.', Restarted), ...faults(400, 404, 503) },
      },
    },
    async ({ params: { server }, principal, envelope }) => {
      const supervisors = supervisorsOf(server, catalog.entries.values())
      await audit.serversChanged('server-restarted', principal, server)
      const request = { action: 'restart', server } as const
      return { outcomes: await askSupervisors(bus, supervisors, request, envelope) }
    },
  )
}
