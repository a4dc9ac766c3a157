import type { Bus } from '@mcp-host/bus'
import { listSessions } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { next, Page } from './page.ts'
import { Session } from './session-schema.ts'

const ListQuery = Page.extend({
  title: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose title contains this text; case is ignored.'),
  metadataKey: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose metadata has this key, whatever its value.'),
})

export function addListSessions(api: Api, { bus }: { readonly bus: Bus }): void {
  api.get(
    '/sessions',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'listSessions',
        summary: 'List the sessions, the newest first',
        querystring: ListQuery,
        response: {
          200: jsonAnswer('A page of them.', z.object({ sessions: z.array(Session), next })),
          ...faults(400, 503, 504),
        },
      },
    },
    async ({ query, envelope }) => askOrchestrator(bus, listSessions, query, envelope),
  )
}
