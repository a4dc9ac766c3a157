import type { Envelope, Up, UserMessage } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import { findAttachments } from '../../session/find-attachments.ts'
import { findStored, getMessage } from '../../session/find-message.ts'
import type { IsSame } from '../../session/same-message.ts'
import { checkSame, sameMessage, sameRegeneration } from '../../session/same-message.ts'
import { storeMessage } from '../../session/store-message.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

const RESEND_MS = 10_000
const ID = 'payload.id'

/** Puts a user message into the session's log, after those sent before it: only then is it accepted. */
export async function acceptMessage(
  deps: SocketDeps,
  connection: Connection,
  { payload }: Extract<Up, { type: 'message' }>,
): Promise<void> {
  const { id, text, replaces, model, attachments = [] } = payload
  const { sessionId } = connection
  await accept(deps, connection, { id, isSame: sameMessage(payload) }, async (envelope) => {
    const message = {
      text,
      ...(model === undefined ? {} : { model }),
      ...(await findAttachments(deps.bus, sessionId, attachments, 'payload.attachments')),
    }
    if (replaces === undefined) return message
    const options = { envelope, field: 'payload.replaces' }
    await getMessage(deps.bus, sessionId, replaces, options)
    return { ...message, replaces }
  })
}

/** Says a message once more, in its own place. */
export async function regenerate(
  deps: SocketDeps,
  connection: Connection,
  { payload }: Extract<Up, { type: 'regenerate' }>,
): Promise<void> {
  const { id, messageId, model } = payload
  await accept(deps, connection, { id, isSame: sameRegeneration(payload) }, async (envelope) => {
    const options = { envelope, field: 'payload.messageId' }
    const {
      content = '',
      metadata: { attachments },
    } = await getMessage(deps.bus, connection.sessionId, messageId, options)
    return {
      text: content,
      replaces: messageId,
      ...(attachments === undefined ? {} : { attachments }),
      ...(model === undefined ? {} : { model }),
    }
  })
}

async function accept(
  deps: SocketDeps,
  connection: Connection,
  { id, isSame }: { readonly id: string | undefined; readonly isSame: IsSame },
  read: (envelope: Envelope) => Promise<Omit<UserMessage, 'id'>>,
): Promise<void> {
  const sentAt = performance.now()
  const messageId = id ?? crypto.randomUUID()
  const { sessionId, clientId, queue, unanswered } = connection
  const envelope = newEnvelope('local')
  const about = { component: 'socket', clientId }
  await connection.inOrder(async () => {
    unanswered.set(messageId, sentAt)
    try {
      if (queue.view.isDeleted) throw new BusError('not-found', 'this session was deleted')
      const store = async (): Promise<{ duplicate: boolean }> => {
        queue.view.checkRoom()
        const message = { id: messageId, ...(await read(envelope)) }
        return storeMessage(deps, sessionId, message, { envelope, about, isSame, field: ID })
      }
      const known =
        id !== undefined && mayBeSentAgain(connection)
          ? await findStored(deps.bus, sessionId, id, envelope)
          : undefined
      if (known !== undefined) checkSame(known.fact, isSame, ID)
      const { duplicate } = known === undefined ? await store() : { duplicate: true }
      if (duplicate) unanswered.delete(messageId)
      void connection.send({ type: 'accepted', payload: { messageId, duplicate } })
    } catch (err) {
      unanswered.delete(messageId)
      void connection.send(errorFrame(err, { sessionId, messageId }))
    }
  })
}

/** Whether a client that reconnected may resend unaccepted messages. */
function mayBeSentAgain({ isReconnect, connectedAt }: Connection): boolean {
  return isReconnect && Date.now() - connectedAt.getTime() < RESEND_MS
}
