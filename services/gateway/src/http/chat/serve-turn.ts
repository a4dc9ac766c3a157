import type { SessionId } from '@mcp-host/contracts'
import { cursorAfter } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { faults } from '../../edge/api.ts'
import type { MessageDraft } from '../../session/compose-message.ts'
import { findStored } from '../../session/find-message.ts'
import { readQueue } from '../../session/read-queue.ts'
import { checkSame } from '../../session/same-message.ts'
import { storeMessage } from '../../session/store-message.ts'
import { checkDeleted } from '../../session/check-session.ts'
import { SessionAccess } from '../../session/session-access.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { ChatDeps } from './chat-deps.ts'
import { streamAnswer, streamSession } from './stream-session.ts'

/** The schema of a route that calls `serveTurn`, without its summary and body. */
export const turnSchema = {
  tags: ['chat'],
  description:
    'The stream begins once the message is stored, and ends with the `done` of its turn. Leaving it cancels nothing: go on with `GET /api/chat/session/{id}/events`. The same `id` again gives the same turn, from its beginning.',
  params: SessionParams,
  response: { ...streamAnswer, ...faults(400, 404, 409, 413, 415, 429, 503, 504) },
}

/** Stores a message, unless its `id` is stored already, and answers with its turn. */
export async function serveTurn(
  deps: ChatDeps,
  reply: FastifyReply,
  session: SessionId,
  { id, draft }: { readonly id: string | undefined; readonly draft: MessageDraft },
): Promise<void> {
  const { bus, events, limits } = deps
  const { isSame, compose } = draft
  const { principal, envelope } = reply.request
  limits.socket(principal, reply.raw)
  const access = new SessionAccess(deps, session, principal, 'id')
  await access.check()
  await checkDeleted(bus, session, 'id')
  const sentAt = performance.now()
  const messageId = id ?? crypto.randomUUID()
  const known = id === undefined ? undefined : await findStored(bus, session, id, envelope)
  if (known !== undefined) checkSame(known.fact, isSame, 'id')
  const { queue, before } = await readQueue(bus, session)
  let seq = known?.seq
  if (seq === undefined) {
    queue.checkRoom()
    const content = await compose({ bus, session, envelope, fieldPrefix: '' })
    const options = { envelope, about: { component: 'http' }, isSame, field: 'id' }
    // Later failures are not reported: the message is accepted.
    ;({ seq } = await storeMessage(deps, session, { id: messageId, ...content }, options))
  }
  await streamSession(deps, reply, session, cursorAfter(seq - 1), {
    envelope,
    access,
    queueAfter: before,
    messageId,
    onText: () => {
      if (known === undefined) events.firstText((performance.now() - sentAt) / 1_000)
    },
  })
}
