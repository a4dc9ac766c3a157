import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { jsonAnswer } from '../../edge/api.ts'
import type { SendBodyDeps } from './send-body.ts'
import { sendBody } from './send-body.ts'
import { bodyLimit, handling, restFaults } from './rest-schemas.ts'

const Body = z.object({
  name: z.string().min(1).describe('Listed name of the prompt: `server__prompt`.'),
  arguments: z
    .record(z.string(), z.string())
    .optional()
    .describe('As the prompt lists them; all are texts.'),
  ...handling,
})

const Result = z
  .looseObject({
    description: z.string().optional().describe('Description of the prompt.'),
    messages: z
      .array(
        z.looseObject({
          role: z.string().describe('`user` or `assistant`.'),
          content: z.unknown().describe('A content block.'),
        }),
      )
      .describe('Messages of the prompt.'),
  })
  .meta({ id: 'PromptResult', description: 'A prompt, as MCP has it.' })

export function addGetPrompt(api: Api, deps: SendBodyDeps): void {
  api.post(
    '/mcp/prompts/get',
    {
      bodyLimit,
      schema: {
        tags: ['mcp'],
        operationId: 'getPrompt',
        summary: 'Get a prompt',
        body: Body,
        response: { 200: jsonAnswer('The prompt.', Result), ...restFaults('servers') },
      },
    },
    ({ body }, reply) => sendBody(deps, reply, 'prompts/get', body),
  )
}
