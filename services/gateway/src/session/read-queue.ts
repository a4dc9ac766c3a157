import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { getMessage } from './find-message.ts'
import { newestTurn } from './follow-session.ts'
import { QueueView } from './queue-view.ts'

/** The waiting messages of a session. Entries before the sequence `before` do not affect them. */
export async function readQueue(
  bus: Bus,
  session: SessionId,
): Promise<{ queue: QueueView; before: number }> {
  const queue = new QueueView()
  const end = await bus.sessions.end(session)
  const { before } = await newestTurn(bus, session, end)
  for (const entry of await bus.sessions.read(session, before, { through: end.seq })) {
    queue.entry(entry)
  }
  return { queue, before }
}

/** The message whose turn a client wants to end. Throws `conflict` when that turn is over, or none runs. */
export async function messageToEnd(
  bus: Bus,
  session: SessionId,
  messageId: string | undefined,
  envelope: Envelope,
): Promise<string> {
  const { queue } = await readQueue(bus, session)
  if (messageId === undefined) {
    if (queue.current !== undefined) return queue.current
    throw new BusError('conflict', 'nothing runs in this session')
  }
  const isOver =
    queue.stateOf(messageId) === undefined
      ? (await getMessage(bus, session, messageId, { envelope, field: 'messageId' })).metadata
          .state === 'done'
      : queue.stateOf(messageId) === 'over'
  if (!isOver) return messageId
  throw new BusError('conflict', 'messageId: its turn is over', { field: 'messageId' })
}
