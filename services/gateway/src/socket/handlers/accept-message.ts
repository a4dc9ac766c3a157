import type { Up } from '@mcp-host/contracts'
import { BusError, callerAt, newEnvelope } from '@mcp-host/contracts'
import { draftMessage, draftRegeneration } from '../../session/compose-message.ts'
import { findStored } from '../../session/find-message.ts'
import { checkSame } from '../../session/same-message.ts'
import { storeMessage } from '../../session/store-message.ts'
import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import { outcomeOf } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

const RESEND_MS = 10_000
const FIELD_PREFIX = 'payload.'
const ID = `${FIELD_PREFIX}id`

/** Stores a user message in the session's log, after earlier messages of the socket. Only then is it accepted. */
export async function acceptMessage(
  deps: SocketDeps,
  connection: Connection,
  frame: Extract<Up, { type: 'message' | 'regenerate' }>,
): Promise<FrameOutcome> {
  const sentAt = performance.now()
  const { id } = frame.payload
  const messageId = id ?? crypto.randomUUID()
  const { sessionId: session, clientId, queue, unanswered } = connection
  const { bus } = deps
  const envelope = newEnvelope(callerAt('ws', connection.principal))
  const { isSame, compose } =
    frame.type === 'message' ? draftMessage(frame.payload) : draftRegeneration(frame.payload)
  return connection.inOrder(async () => {
    unanswered.set(messageId, sentAt)
    try {
      if (queue.view.isDeleted) throw new BusError('not-found', 'this session was deleted')
      const store = async (): Promise<{ duplicate: boolean }> => {
        queue.view.checkRoom()
        const context = { bus, session, envelope, fieldPrefix: FIELD_PREFIX }
        const message = { id: messageId, ...(await compose(context)) }
        const about = { component: 'socket', clientId }
        return storeMessage(deps, session, message, { envelope, about, isSame, field: ID })
      }
      const known =
        id !== undefined && mayBeSentAgain(connection)
          ? await findStored(bus, session, id, envelope)
          : undefined
      if (known !== undefined) checkSame(known.fact, isSame, ID)
      const { duplicate } = known === undefined ? await store() : { duplicate: true }
      if (duplicate) unanswered.delete(messageId)
      void connection.send({ type: 'accepted', payload: { messageId, duplicate } })
      return 'ok'
    } catch (err) {
      unanswered.delete(messageId)
      void connection.send(errorFrame(err, { sessionId: session, messageId }))
      return outcomeOf(err)
    }
  })
}

/** Whether a client that reconnected may resend unaccepted messages. */
function mayBeSentAgain({ isReconnect, connectedAt }: Connection): boolean {
  return isReconnect && Date.now() - connectedAt.getTime() < RESEND_MS
}
