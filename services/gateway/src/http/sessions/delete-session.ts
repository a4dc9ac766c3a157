import type { Bus } from '@mcp-host/bus'
import type { SignSession } from '@mcp-host/mcp-endpoint'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults } from '../../edge/api.ts'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { checkSession, ownerOf } from '../../session/check-session.ts'
import { eraseSession } from '../../session/erase-session.ts'
import { SessionParams } from './session-params.ts'

export interface DeleteSessionDeps {
  readonly bus: Bus
  readonly signSession: SignSession
  readonly audit: Pick<GatewayAudit, 'sessionDeleted'>
}

export function addDeleteSession(api: Api, deps: DeleteSessionDeps): void {
  const { bus, signSession, audit } = deps
  api.delete(
    '/session/:id',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'deleteSession',
        summary: 'Delete a session: end what runs in it and erase all of it',
        params: SessionParams,
        response: {
          204: z
            .undefined()
            .describe('It is gone, and erased at the latest when an orchestrator is there.'),
          ...faults(400, 404, 503, 504),
        },
      },
    },
    async ({ params: { id }, principal, envelope }, reply) => {
      await checkSession(deps, id, principal)
      const owner = await ownerOf(bus, id)
      await eraseSession(bus, id, envelope, signSession)
      audit.sessionDeleted(principal, id, owner)
      return reply.code(204).send()
    },
  )
}
