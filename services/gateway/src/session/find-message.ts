import type { Bus } from '@mcp-host/bus'
import type { Envelope, HistoryMessage, SessionId, UserMessage } from '@mcp-host/contracts'
import { BusError, childEnvelope, sessionHistory } from '@mcp-host/contracts'

const TIMEOUT_MS = 5_000
/** The time limit where the log has the answer, too. */
const SHORT_TIMEOUT_MS = 1_000

/** A user message of the session, on whichever branch; `undefined` when there is none with that id. */
async function findMessage(
  bus: Bus,
  session: SessionId,
  id: string,
  envelope: Envelope,
  timeoutMs = TIMEOUT_MS,
): Promise<HistoryMessage | undefined> {
  const options = { envelope: childEnvelope(envelope), timeoutMs }
  try {
    const { messages } = await bus.call(
      sessionHistory,
      {},
      { session, limit: 1, only: id },
      options,
    )
    return messages.find((message) => message.role === 'user' && message.id === id)
  } catch (error) {
    if (BusError.from(error).code === 'not-found') return undefined
    throw error
  }
}

/** As `findStored`, but throws `not-found` with the field that named the message. */
export async function getMessage(
  bus: Bus,
  session: SessionId,
  id: string,
  { envelope, field }: { readonly envelope: Envelope; readonly field: string },
): Promise<HistoryMessage> {
  const message = await findMessage(bus, session, id, envelope)
  if (message !== undefined) return message
  throw new BusError('not-found', `${field}: no message "${id}" is in this session`, { field })
}

/**
 * A message as it stands in the log, if it was stored before. The broker itself knows only the ids of two
 * minutes, and would store it again.
 */
export async function findStored(
  bus: Bus,
  session: SessionId,
  id: string,
  envelope: Envelope,
): Promise<{ readonly seq: number; readonly fact: UserMessage } | undefined> {
  try {
    const found = await findMessage(bus, session, id, envelope, SHORT_TIMEOUT_MS)
    if (found === undefined) return undefined
  } catch (error) {
    // Messages are taken without orchestrators, too.
    if (!BusError.from(error).retryable) throw error
  }
  // The whole log, but only for a message that is sent again.
  const through = await bus.sessions.lastSequence(session)
  const entries = await bus.sessions.read(session, 0, { through })
  for (const { kind, seq, fact } of entries) {
    if (kind === 'input' && fact.id === id) return { seq, fact }
  }
  return undefined
}
