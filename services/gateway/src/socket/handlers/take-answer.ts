import type { Up } from '@mcp-host/contracts'
import { callerAt, newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { storeAnswer } from '../../session/store-answer.ts'
import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import { outcomeOf } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

type AnswerFrame = Extract<Up, { type: 'answer' }>

/** Stores a user's answer to a question in the session's log. Only the first answer is accepted. */
export async function takeAnswer(
  deps: SocketDeps,
  connection: Connection,
  frame: AnswerFrame,
): Promise<FrameOutcome> {
  return connection.inOrder(() => take(deps, connection, frame))
}

async function take(
  { bus, audit, logger }: SocketDeps,
  connection: Connection,
  { payload }: AnswerFrame,
): Promise<FrameOutcome> {
  const { sessionId, clientId } = connection
  const { id, action } = payload
  const envelope = newEnvelope(callerAt('ws', connection.principal))
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
    const { principal } = connection
    await storeAnswer({ bus, audit }, sessionId, payload, { principal, envelope })
    logger.info(fields, 'answer accepted')
    void connection.send({ type: 'accepted', payload: { messageId: id, duplicate: false } })
    return 'ok'
  } catch (err) {
    logger.warn({ ...fields, err }, 'answer not accepted')
    void connection.send(errorFrame(err, { sessionId, messageId: id, within: 'payload' }))
    return outcomeOf(err)
  }
}
