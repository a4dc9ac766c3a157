import type { ListName } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { jsonAnswer } from '../../edge/api.ts'
import type { FindServersDeps } from './find-servers.ts'
import { findServers } from './find-servers.ts'
import { RestFault } from './rest-fault.ts'
import { bodyLimit, ofServer, restFaults } from './rest-schemas.ts'
import { sendJson } from './send-json.ts'

const Body = z
  .object({
    cursor: z
      .string()
      .optional()
      .describe('`nextCursor` of the page before; without it the first.'),
    ...ofServer,
  })
  .prefault({})

const LISTS: readonly {
  readonly list: ListName
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** The fields of an item, for the description. */
  readonly fields: string
}[] = [
  {
    list: 'tools',
    path: 'tools',
    operationId: 'listTools',
    summary: 'List the tools of all MCP servers',
    fields: '`name`, `description`, `inputSchema` and more',
  },
  {
    list: 'prompts',
    path: 'prompts',
    operationId: 'listPrompts',
    summary: 'List their prompts',
    fields: '`name`, `description`, `arguments` and more',
  },
  {
    list: 'resources',
    path: 'resources',
    operationId: 'listResources',
    summary: 'List their resources',
    fields: '`uri`, `name`, `mimeType` and more',
  },
  {
    list: 'resourceTemplates',
    path: 'resources/templates',
    operationId: 'listResourceTemplates',
    summary: 'List the templates of resources that can be read',
    fields: '`uriTemplate`, `name` and more',
  },
]

/** Adds a route for each list: of tools, prompts, resources and resource templates. */
export function addListItems(api: Api, deps: FindServersDeps): void {
  for (const { list, path, operationId, summary, fields } of LISTS) {
    const page = z.object({
      [list]: z.array(z.looseObject({})).describe(`As MCP has them: ${fields}.`),
      nextCursor: z.string().optional().describe('`cursor` of the next page; absent on the last.'),
    })
    api.post(
      `/mcp/${path}/list`,
      {
        bodyLimit,
        schema: {
          tags: ['mcp'],
          operationId,
          summary,
          body: Body,
          response: { 200: jsonAnswer('A page.', page), ...restFaults('lists') },
        },
      },
      async ({ body: { cursor, server }, principal }, reply) => {
        await deps.virtualServers.settling
        try {
          const { listing } = findServers(deps, principal, server)
          const json = listing.page(list, cursor, 'legacy')
          if (json !== undefined) return sendJson(reply, `{${json}}`)
          throw new RestFault(400, 'cursor: is unknown; begin without one', { field: 'cursor' })
        } catch (error) {
          if (error instanceof RestFault) return error.reply(reply)
          throw error
        }
      },
    )
  }
}
