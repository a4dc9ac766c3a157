import type { Bus } from '@mcp-host/bus'
import { updateSession } from '@mcp-host/contracts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { SessionParams } from './session-params.ts'
import { Session } from './session-schema.ts'
import { SessionChange } from './session-settings.ts'

export function addUpdateSession(api: Api, { bus }: { readonly bus: Bus }): void {
  api.patch(
    '/session/:id',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'updateSession',
        summary: 'Change the title, model, settings or metadata of a session',
        params: SessionParams,
        body: SessionChange,
        response: {
          200: jsonAnswer('The session.', Session),
          ...faults(400, 404, 413, 415, 503, 504),
        },
      },
    },
    async ({ params: { id }, body, envelope }) =>
      askOrchestrator(bus, updateSession, { session: id, ...body }, envelope),
  )
}
