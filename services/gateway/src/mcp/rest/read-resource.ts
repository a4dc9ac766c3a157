import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { jsonAnswer } from '../../edge/api.ts'
import type { SendBodyDeps } from './send-body.ts'
import { sendBody } from './send-body.ts'
import { bodyLimit, handling, restFaults } from './rest-schemas.ts'

const Body = z.object({
  uri: z.string().min(1).describe('As it is listed, or made of a template.'),
  ...handling,
})

const Result = z
  .looseObject({
    contents: z
      .array(z.looseObject({ uri: z.string().describe('URI of the part at its server.') }))
      .describe('Its parts, with `mimeType` and `text` or, in Base64, `blob`.'),
  })
  .meta({ id: 'ReadResult', description: 'Content of a resource, in the form of MCP.' })

export function addReadResource(api: Api, deps: SendBodyDeps): void {
  api.post(
    '/mcp/resources/read',
    {
      bodyLimit,
      schema: {
        tags: ['mcp'],
        operationId: 'readResource',
        summary: 'Read a resource',
        body: Body,
        response: {
          200: jsonAnswer('The content of the resource.', Result),
          ...restFaults('servers'),
        },
      },
    },
    ({ body }, reply) => sendBody(deps, reply, 'resources/read', body),
  )
}
