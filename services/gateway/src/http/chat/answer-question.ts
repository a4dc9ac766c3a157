import { AnswerUp } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { storeAnswer } from '../../session/store-answer.ts'
import { checkSession } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { ChatDeps } from './chat-deps.ts'

export function addAnswerQuestion(api: Api, deps: ChatDeps): void {
  const { bus, audit, logger } = deps
  api.post(
    '/session/:id/answer',
    {
      schema: {
        tags: ['chat'],
        operationId: 'answerQuestion',
        summary: 'Answer a question of a tool, or allow a tool to be called',
        description:
          'To allow or refuse a tool call needs the scope `decide`. The question came as a `status` event with `input`. The first answer counts. A form is checked by its `requestedSchema`; one that does not fit leaves the question open.',
        params: SessionParams,
        body: AnswerUp.shape.payload,
        response: {
          202: jsonAnswer('It is the first one.', z.object({ id: z.string() })),
          ...faults(400, 404, 413, 415, 503),
        },
      },
    },
    async ({ params: { id: sessionId }, body, principal, envelope }, reply) => {
      await checkSession(deps, sessionId, principal)
      await storeAnswer({ bus, audit }, sessionId, body, { principal, envelope })
      const { id: question, action: answer } = body
      const fields = { ...requestFields(envelope), component: 'http', sessionId }
      logger.info({ ...fields, action: 'answer', question, answer }, 'answer accepted')
      return reply.code(202).send({ id: question })
    },
  )
}
