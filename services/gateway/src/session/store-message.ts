import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, UserMessage } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { GatewayEvents } from '../events.ts'

/** How long a user waits for a message to be stored. */
const PATIENCE_MS = 10_000

export interface StoreMessageDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: GatewayEvents
}

/**
 * Puts a user message into the session's log: only then is it accepted. `about` are fields of the log line.
 * Throws `unavailable`, at once when the host cannot store.
 */
export async function storeMessage(
  { bus, logger, events }: StoreMessageDeps,
  session: SessionId,
  message: UserMessage,
  { envelope, about }: { envelope: Envelope; about: Readonly<Record<string, unknown>> },
): Promise<{ seq: number; duplicate: boolean }> {
  const messageId = message.id
  const fields = {
    ...requestFields(envelope),
    action: 'message',
    sessionId: session,
    messageId,
    ...about,
  }
  try {
    await bus.storage.checkRoom()
    const stored = await bus.sessions.append(
      session,
      { kind: 'input', fact: message },
      { envelope, messageId, patienceMs: PATIENCE_MS },
    )
    const { duplicate } = stored
    if (!duplicate) events.messageAccepted()
    logger.info({ ...fields, duplicate }, 'message accepted')
    return stored
  } catch (err) {
    logger.error({ ...fields, err }, 'message not accepted')
    throw err
  }
}
