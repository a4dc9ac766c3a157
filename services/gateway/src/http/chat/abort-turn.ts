import { CancelUp } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { messageToEnd } from '../../session/read-queue.ts'
import { storeCancel } from '../../session/store-cancel.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { ChatDeps } from './chat-deps.ts'

export function addAbortTurn(api: Api, deps: ChatDeps): void {
  const { bus, logger, events } = deps
  api.post(
    '/session/:id/abort',
    {
      schema: {
        tags: ['chat'],
        operationId: 'abortTurn',
        summary: 'End a turn, or withdraw a message whose turn has not begun',
        params: SessionParams,
        body: CancelUp.shape.payload,
        response: {
          202: jsonAnswer('It will end.', z.object({ messageId: z.string() })),
          ...faults(400, 404, 409, 413, 415, 503, 504),
        },
      },
    },
    async ({ params: { id: sessionId }, body, principal, envelope }, reply) => {
      await checkSession(deps, sessionId, principal)
      const messageId = await messageToEnd(bus, sessionId, body.messageId, envelope)
      const { duplicate } = await storeCancel(bus, sessionId, messageId, envelope)
      if (!duplicate) events.cancelAccepted()
      const fields = { ...requestFields(envelope), component: 'http', sessionId, messageId }
      logger.info({ ...fields, action: 'cancel' }, 'cancel accepted')
      return reply.code(202).send({ messageId })
    },
  )
}
