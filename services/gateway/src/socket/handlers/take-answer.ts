import type { Up } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { storeAnswer } from '../../session/store-answer.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

type AnswerFrame = Extract<Up, { type: 'answer' }>

/** Puts a user's answer to a question into the session's log. Only the first one is accepted. */
export async function takeAnswer(
  deps: SocketDeps,
  connection: Connection,
  frame: AnswerFrame,
): Promise<void> {
  await connection.inOrder(() => take(deps, connection, frame))
}

async function take(
  { bus, logger }: SocketDeps,
  connection: Connection,
  { payload }: AnswerFrame,
): Promise<void> {
  const { sessionId, clientId } = connection
  const { id, action } = payload
  const envelope = newEnvelope('local')
  const fields = {
    ...requestFields(envelope),
    component: 'socket',
    action: 'answer',
    sessionId,
    clientId,
    question: id,
    answer: action,
  }
  try {
    await storeAnswer(bus, sessionId, payload, envelope)
    logger.info(fields, 'answer accepted')
    void connection.send({ type: 'accepted', payload: { messageId: id, duplicate: false } })
  } catch (err) {
    logger.warn({ ...fields, err }, 'answer not accepted')
    void connection.send(errorFrame(err, { sessionId, messageId: id, within: 'payload' }))
  }
}
