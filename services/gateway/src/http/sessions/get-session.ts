import type { Bus } from '@mcp-host/bus'
import { getSession } from '@mcp-host/contracts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { SessionParams } from './session-params.ts'
import { SessionWithDetails } from './session-schema.ts'

export function addGetSession(api: Api, { bus }: { readonly bus: Bus }): void {
  api.get(
    '/session/:id',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'getSession',
        summary: 'Get the record of a session',
        params: SessionParams,
        response: { 200: jsonAnswer('It.', SessionWithDetails), ...faults(400, 404, 503, 504) },
      },
    },
    async ({ params: { id }, envelope }) =>
      askOrchestrator(bus, getSession, { session: id }, envelope),
  )
}
