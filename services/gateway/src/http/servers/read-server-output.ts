import { ServerName } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askSupervisors, Outcome } from './ask-supervisors.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'
import { supervisorsOf } from './supervisors-of.ts'

const ServerOutput = z
  .object({
    outcomes: z
      .array(
        Outcome.extend({
          output: z.array(z.string()).optional().describe('The oldest line first.'),
        }),
      )
      .describe('One for each supervisor that runs the server.'),
  })
  .meta({ id: 'ServerOutput', description: 'The last lines of the stderr of a server.' })

export function addReadServerOutput(api: Api, { bus, catalog }: ServerRoutesDeps): void {
  api.get(
    '/servers/:server/output',
    {
      schema: {
        tags: ['servers'],
        operationId: 'readServerOutput',
        summary: 'Read the last lines that an MCP server wrote to its stderr',
        description:
          'At most 20 lines of each process. Secrets of its entry in mcp.json and folders are left out; lines may have other secrets.',
        params: z.object({ server: ServerName }),
        response: { 200: jsonAnswer('The lines.', ServerOutput), ...faults(400, 404, 503) },
      },
    },
    async ({ params: { server }, envelope }) => {
      const supervisors = supervisorsOf(server, catalog.entries.values())
      const request = { action: 'read-output', server } as const
      return { outcomes: await askSupervisors(bus, supervisors, request, envelope) }
    },
  )
}
