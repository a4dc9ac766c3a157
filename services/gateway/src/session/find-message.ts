import type { Bus } from '@mcp-host/bus'
import type { Envelope, HistoryMessage, SessionId, UserMessage } from '@mcp-host/contracts'
import { BusError, childEnvelope, sessionHistory } from '@mcp-host/contracts'

const TIMEOUT_MS = 5_000
/** The time limit for asking an orchestrator where the log can answer instead. */
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

interface StoredMessage {
  readonly seq: number
  readonly fact: UserMessage
}

interface FieldOptions {
  readonly envelope: Envelope
  /** The request field with the id. */
  readonly field: string
}

/** A message as an orchestrator has it. Throws `not-found` for the request field with the id. */
export async function getMessage(
  bus: Bus,
  session: SessionId,
  id: string,
  { envelope, field }: FieldOptions,
): Promise<HistoryMessage> {
  const message = await findMessage(bus, session, id, envelope)
  if (message === undefined) throw unknownMessage(id, field)
  return message
}

/** Throws `not-found` for the request field when the log does not have the message. It needs no orchestrator. */
export async function checkStored(
  bus: Bus,
  session: SessionId,
  id: string,
  { envelope, field }: FieldOptions,
): Promise<void> {
  if ((await findStored(bus, session, id, envelope)) === undefined) throw unknownMessage(id, field)
}

/** The text and the files of a message. Throws `not-found` for the request field with the id. It needs no orchestrator. */
export async function storedContent(
  bus: Bus,
  session: SessionId,
  id: string,
  { envelope, field }: FieldOptions,
): Promise<Pick<UserMessage, 'text' | 'attachments'>> {
  try {
    const known = await findMessage(bus, session, id, envelope, SHORT_TIMEOUT_MS)
    if (known === undefined) throw unknownMessage(id, field)
    const { content: text = '', metadata } = known
    return { text, attachments: metadata.attachments }
  } catch (error) {
    // Without an orchestrator, the log is read.
    if (!BusError.from(error).retryable) throw error
  }
  const stored = await readStored(bus, session, id)
  if (stored === undefined) throw unknownMessage(id, field)
  return stored.fact
}

function unknownMessage(id: string, field: string): BusError {
  return new BusError('not-found', `${field}: no message "${id}" is in this session`, { field })
}

/**
 * A message as the log has it, if it was stored before. The broker remembers message ids for only two minutes, and
 * would store the message again.
 */
export async function findStored(
  bus: Bus,
  session: SessionId,
  id: string,
  envelope: Envelope,
): Promise<StoredMessage | undefined> {
  try {
    const found = await findMessage(bus, session, id, envelope, SHORT_TIMEOUT_MS)
    if (found === undefined) return undefined
  } catch (error) {
    // Without an orchestrator, the log is read.
    if (!BusError.from(error).retryable) throw error
  }
  // Only a repeated message, or one that names another, makes the gateway read the whole log.
  return readStored(bus, session, id)
}

async function readStored(
  bus: Bus,
  session: SessionId,
  id: string,
): Promise<StoredMessage | undefined> {
  const through = await bus.sessions.lastSequence(session)
  const entries = await bus.sessions.read(session, 0, { through })
  for (const { kind, seq, fact } of entries) {
    if (kind === 'input' && fact.id === id) return { seq, fact }
  }
  return undefined
}
