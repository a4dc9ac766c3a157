import { hasContent, MessageUp, NO_CONTENT } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { draftMessage } from '../../session/compose-message.ts'
import type { ChatDeps } from './chat-deps.ts'
import { serveTurn, turnSchema } from './serve-turn.ts'

const { text, id, replaces, follows, model, attachments } = MessageUp.shape.payload.shape

export function addSendMessage(api: Api, deps: ChatDeps): void {
  api.post(
    '/session/:id/message',
    {
      schema: {
        ...turnSchema,
        operationId: 'sendMessage',
        summary: 'Say something and get the answer as it is written',
        body: z
          .object({
            message: text.default('').describe('May be left out where `attachments` are given.'),
            id: id.describe('Your own id of the message; a new one if you give none.'),
            replaces: replaces.describe(
              'Id of an earlier message to be said differently: another branch begins in its place.',
            ),
            follows: follows.describe(
              'Id of the message that this one follows: its branch goes on. Default: the newest message. Not with `replaces`.',
            ),
            attachments: attachments.describe(
              'Keys of files that were stored before with `POST /api/chat/session/{id}/file`.',
            ),
            model: model.describe(
              'The model that answers, as `provider/model` or `provider`. Default: the model of the session, else of the host.',
            ),
          })
          .refine((body) => hasContent(body.message, body.attachments), {
            error: NO_CONTENT,
            path: ['message'],
          }),
      },
    },
    ({ params, body }, reply) =>
      serveTurn(deps, reply, params.id, {
        id: body.id,
        draft: draftMessage({ ...body, text: body.message }),
      }),
  )
}
