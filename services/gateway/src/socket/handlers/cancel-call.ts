import type { Up } from '@mcp-host/contracts'
import { callerAt, newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { storeCallCancel } from '../../session/store-call-cancel.ts'
import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import { outcomeOf } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

type CancelCallFrame = Extract<Up, { type: 'cancel-call' }>

/** Stops one tool call, after earlier frames of the socket. */
export async function cancelCall(
  deps: SocketDeps,
  connection: Connection,
  frame: CancelCallFrame,
): Promise<FrameOutcome> {
  return connection.inOrder(() => cancel(deps, connection, frame))
}

async function cancel(
  { bus, events, logger }: SocketDeps,
  connection: Connection,
  { payload: { callId } }: CancelCallFrame,
): Promise<FrameOutcome> {
  const { sessionId, clientId } = connection
  const envelope = newEnvelope(callerAt('ws', connection.principal))
  const about = { component: 'socket', action: 'cancel-call', sessionId, clientId, call: callId }
  const fields = { ...requestFields(envelope), ...about }
  try {
    const { duplicate } = await storeCallCancel(bus, sessionId, callId, envelope)
    if (!duplicate) events.cancelAccepted()
    logger.info({ ...fields, duplicate }, 'cancel accepted')
    void connection.send({ type: 'accepted', payload: { messageId: callId, duplicate } })
    return 'ok'
  } catch (err) {
    logger.warn({ ...fields, err }, 'cancel not accepted')
    void connection.send(errorFrame(err, { sessionId, messageId: callId, within: 'payload' }))
    return outcomeOf(err)
  }
}
