import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults } from '../../edge/api.ts'
import type { CheckSessionDeps } from '../../session/check-session.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { FileSender } from './file-sender.ts'

export interface GetFileDeps extends CheckSessionDeps {
  readonly files: FileSender
}

export function addGetFile(api: Api, deps: GetFileDeps): void {
  api.get(
    '/session/:id/file/:key',
    {
      schema: {
        tags: ['chat'],
        operationId: 'getFile',
        summary: 'Get an attachment of a message, a file that a tool returned, or a large result',
        params: SessionParams.extend({ key: z.string().describe('Key of the file.') }),
        response: faults(400, 404, 429, 503),
      },
    },
    async ({ params: { id, key }, principal }, reply) => {
      await checkSession(deps, id, principal)
      await deps.files.send(reply, { session: id, key, holder: principal.id })
    },
  )
}
