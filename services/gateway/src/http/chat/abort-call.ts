import { CancelCallUp } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { checkSession } from '../../session/check-session.ts'
import { storeCallCancel } from '../../session/store-call-cancel.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { ChatDeps } from './chat-deps.ts'

export function addAbortCall(api: Api, deps: ChatDeps): void {
  const { bus, logger, events } = deps
  const body = CancelCallUp.shape.payload
  api.post(
    '/session/:id/abort-call',
    {
      schema: {
        tags: ['chat'],
        operationId: 'abortCall',
        summary: 'Stop one tool call; its turn goes on',
        params: SessionParams,
        body,
        response: {
          202: jsonAnswer('It will end, or is over.', body),
          ...faults(400, 404, 413, 415, 503),
        },
      },
    },
    async ({ params: { id: sessionId }, body: { callId }, principal, envelope }, reply) => {
      await checkSession(deps, sessionId, principal)
      const { duplicate } = await storeCallCancel(bus, sessionId, callId, envelope)
      if (!duplicate) events.cancelAccepted()
      const fields = { ...requestFields(envelope), component: 'http', sessionId, call: callId }
      logger.info({ ...fields, action: 'cancel-call', duplicate }, 'cancel accepted')
      return reply.code(202).send({ callId })
    },
  )
}
