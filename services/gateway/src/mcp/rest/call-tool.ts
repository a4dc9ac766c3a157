import { JsonObject } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { jsonAnswer } from '../../edge/api.ts'
import { ContentBlocks } from '../../projection/answer-parts.ts'
import type { SendBodyDeps } from './send-body.ts'
import { sendBody } from './send-body.ts'
import { bodyLimit, handling, restFaults } from './rest-schemas.ts'

const Body = z.object({
  name: z.string().min(1).describe('Listed name of the tool: `server__tool`.'),
  arguments: JsonObject.optional().describe("As the tool's `inputSchema` has them."),
  approval: z
    .string()
    .max(100)
    .optional()
    .describe('Id of an approval that a user has given for this very call.'),
  ...handling,
})

const Result = z
  .looseObject({
    content: ContentBlocks,
    structuredContent: z.unknown().optional().describe("As the tool's `outputSchema` has it."),
    isError: z.boolean().optional().describe('Whether the tool failed; `content` says how.'),
  })
  .meta({ id: 'ToolResult', description: 'Result of a tool, in the form of MCP.' })

export function addCallTool(api: Api, deps: SendBodyDeps): void {
  api.post(
    '/mcp/tools/call',
    {
      bodyLimit,
      schema: {
        tags: ['mcp'],
        operationId: 'callTool',
        summary: 'Call a tool',
        description:
          'A tool that fails has answered: 200 with `isError`. Leaving cancels the call at its server.',
        body: Body,
        response: { 200: jsonAnswer('The result of the tool.', Result), ...restFaults('servers') },
      },
    },
    ({ body }, reply) => sendBody(deps, reply, 'tools/call', body),
  )
}
