import type { Up } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import type { Connection } from '../connection.ts'
import type { SocketDeps } from '../socket.ts'

/** How long a user waits for a message to be stored. */
const PATIENCE_MS = 10_000

/** Puts a user message into the session's log, after those sent before it: only then is it accepted. */
export async function acceptMessage(
  deps: SocketDeps,
  connection: Connection,
  frame: Extract<Up, { type: 'message' }>,
): Promise<void> {
  await connection.inOrder(() => store(deps, connection, frame))
}

async function store(
  { bus, logger, events }: SocketDeps,
  connection: Connection,
  { payload }: Extract<Up, { type: 'message' }>,
): Promise<void> {
  const sentAt = performance.now()
  const messageId = payload.id ?? crypto.randomUUID()
  const envelope = newEnvelope('local')
  const fields = {
    ...requestFields(envelope),
    component: 'socket',
    action: 'message',
    sessionId: connection.sessionId,
    clientId: connection.clientId,
    messageId,
  }
  connection.unanswered.set(messageId, sentAt)
  try {
    const { duplicate } = await bus.sessions.append(
      connection.sessionId,
      { kind: 'input', fact: { id: messageId, text: payload.text } },
      { envelope, messageId, patienceMs: PATIENCE_MS },
    )
    if (duplicate) connection.unanswered.delete(messageId)
    else events.messageAccepted()
    logger.info({ ...fields, duplicate }, 'message accepted')
    void connection.send({ type: 'accepted', payload: { messageId, duplicate } })
  } catch (err) {
    connection.unanswered.delete(messageId)
    const error = BusError.from(err)
    logger.error({ ...fields, err }, 'message not accepted')
    const payloadOfError = { ...error.toInfo(), retryable: error.retryable, messageId }
    void connection.send({ type: 'error', payload: payloadOfError })
  }
}
