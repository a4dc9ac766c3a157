import type { Envelope, Up } from '@mcp-host/contracts'
import { BusError, callerAt, newEnvelope } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { getMessage } from '../../session/find-message.ts'
import { storeCancel } from '../../session/store-cancel.ts'
import type { FrameOutcome } from '../../connection/frame-outcome.ts'
import { outcomeOf } from '../../connection/frame-outcome.ts'
import type { Connection } from '../../connection/connection.ts'
import { errorFrame } from '../../connection/error-frame.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'

type CancelFrame = Extract<Up, { type: 'cancel' }>

/** Ends a turn or withdraws a message, after earlier frames of the socket. */
export async function cancelTurn(
  deps: SocketDeps,
  connection: Connection,
  frame: CancelFrame,
): Promise<FrameOutcome> {
  return connection.inOrder(() => cancel(deps, connection, frame))
}

async function cancel(
  deps: SocketDeps,
  connection: Connection,
  { payload }: CancelFrame,
): Promise<FrameOutcome> {
  const { sessionId, clientId } = connection
  const envelope = newEnvelope(callerAt('ws', connection.principal))
  const fields = {
    ...requestFields(envelope),
    component: 'socket',
    action: 'cancel',
    sessionId,
    clientId,
  }
  try {
    const { messageId, isOver } = await target(deps, connection, payload.messageId, envelope)
    // The log names the message, so that a turn that has begun meanwhile is not cancelled.
    const { duplicate } = isOver
      ? { duplicate: true }
      : await storeCancel(deps.bus, sessionId, messageId, envelope)
    if (!duplicate) deps.events.cancelAccepted()
    deps.logger.info({ ...fields, messageId, duplicate }, 'cancel accepted')
    void connection.send({ type: 'accepted', payload: { messageId, duplicate } })
    return 'ok'
  } catch (err) {
    deps.logger.warn({ ...fields, messageId: payload.messageId, err }, 'cancel not accepted')
    void connection.send(errorFrame(err, { sessionId, messageId: payload.messageId }))
    return outcomeOf(err)
  }
}

/** The message to cancel, and whether its turn is over. Throws `not-found`. */
async function target(
  { bus }: SocketDeps,
  { sessionId, queue, unanswered }: Connection,
  given: string | undefined,
  envelope: Envelope,
): Promise<{ messageId: string; isOver: boolean }> {
  await queue.known()
  const { view } = queue
  if (given === undefined) {
    // A stored message may not have arrived from the log yet.
    const [stored] = unanswered.keys()
    const current = view.current ?? stored
    if (current !== undefined) return { messageId: current, isOver: false }
    if (view.last !== undefined) return { messageId: view.last, isOver: true }
    throw new BusError('not-found', 'cancel: nothing runs in this session')
  }
  const state = view.stateOf(given)
  if (state !== undefined || unanswered.has(given)) {
    return { messageId: given, isOver: state === 'over' }
  }
  const options = { envelope, field: 'payload.messageId' }
  const { metadata } = await getMessage(bus, sessionId, given, options)
  return { messageId: given, isOver: metadata.state === 'done' }
}
