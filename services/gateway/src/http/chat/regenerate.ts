import { RegenerateUp } from '@mcp-host/contracts'
import type { Api } from '../../edge/api.ts'
import { draftRegeneration } from '../../session/compose-message.ts'
import type { ChatDeps } from './chat-deps.ts'
import { serveTurn, turnSchema } from './serve-turn.ts'

export function addRegenerate(api: Api, deps: ChatDeps): void {
  api.post(
    '/session/:id/regenerate',
    {
      schema: {
        ...turnSchema,
        operationId: 'regenerate',
        summary: 'Get another answer to a message',
        body: RegenerateUp.shape.payload,
      },
    },
    ({ params, body }, reply) =>
      serveTurn(deps, reply, params.id, { id: body.id, draft: draftRegeneration(body) }),
  )
}
