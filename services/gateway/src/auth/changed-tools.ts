import { z } from 'zod'
import type { ToolPins } from '@mcp-host/service'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'
import type { GatewayAudit } from '../gateway-audit.ts'

const Changed = z
  .object({
    server: z.string().describe('The MCP server.'),
    tool: z.string().describe('Its name at the server.'),
    pinned: z.string().optional().describe('JSON of the definition that was recorded.'),
    current: z.string().describe('JSON of the definition that the server has now.'),
  })
  .meta({ id: 'ChangedTool', description: 'A tool whose definition has changed.' })

const Accept = z.object({
  server: z.string().min(1).describe('The MCP server.'),
  tool: z.string().min(1).describe('Its name at the server.'),
})

export interface ChangedToolsDeps {
  readonly pins: Pick<ToolPins, 'changed' | 'accept'>
  readonly audit: Pick<GatewayAudit, 'toolAccepted'>
}

/** Routes by which admins see and accept tools whose definition differs from the pinned one. */
export function addChangedTools(api: Api, { pins, audit }: ChangedToolsDeps): void {
  const tags = ['auth']
  api.get(
    '/changed-tools',
    {
      schema: {
        tags,
        operationId: 'listChangedTools',
        summary: 'List the tools whose definition has changed since it was recorded',
        description:
          'Where the policy says `"pin": "quarantine"`, they are hidden from clients and models until their change is accepted.',
        response: {
          200: jsonAnswer('Them.', z.object({ tools: z.array(Changed) })),
          ...faults(400, 503),
        },
      },
    },
    async () => ({ tools: pins.changed() }),
  )

  api.post(
    '/changed-tools/accept',
    {
      schema: {
        tags,
        operationId: 'acceptChangedTool',
        summary: 'Accept the present definition of a tool',
        body: Accept,
        response: {
          204: z.undefined().describe('It is used again at all gateways.'),
          ...faults(400, 404, 413, 415, 503),
        },
      },
    },
    async ({ body: { server, tool }, principal }, reply) => {
      const record = (): Promise<void> => audit.toolAccepted(principal, server, tool)
      await pins.accept(server, tool, principal.id, record)
      return reply.code(204).send()
    },
  )
}
