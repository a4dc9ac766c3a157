import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, UserMessage } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { GatewayEvents } from '../events.ts'
import type { GatewayLimits } from '../limits/gateway-limits.ts'
import type { MaintenanceState } from '../maintenance-state.ts'
import type { IsSame } from './same-message.ts'
import { checkSame } from './same-message.ts'

/** The time limit for storing a message. */
const PATIENCE_MS = 10_000

export interface StoreMessageOptions {
  readonly envelope: Envelope
  /** Fields for the log line. */
  readonly about: Readonly<Record<string, unknown>>
  readonly isSame: IsSame
  /** The request field with the id, for errors. */
  readonly field: string
}

export interface StoreMessageDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: GatewayEvents
  readonly limits: Pick<GatewayLimits, 'message'>
  readonly maintenance: Pick<MaintenanceState, 'check'>
}

/**
 * Stores a user message in the session's log, which accepts it. Throws `exhausted` over a limit, `unavailable` at once
 * in maintenance and when the host cannot store, or `conflict` when another message has its id.
 */
export async function storeMessage(
  { bus, logger, events, limits, maintenance }: StoreMessageDeps,
  session: SessionId,
  message: UserMessage,
  { envelope, about, isSame, field }: StoreMessageOptions,
): Promise<{ seq: number; duplicate: boolean }> {
  const messageId = message.id
  const fields = {
    ...requestFields(envelope),
    action: 'message',
    sessionId: session,
    messageId,
    ...about,
  }
  // No fault, so it is not logged.
  maintenance.check()
  try {
    await limits.message(envelope.principal, session)
    await bus.storage.checkRoom()
    const stored = await bus.sessions.append(
      session,
      { kind: 'input', fact: message },
      { envelope, messageId, patienceMs: PATIENCE_MS },
    )
    const { duplicate } = stored
    if (duplicate) {
      const [entry] = await bus.sessions.read(session, stored.seq - 1, { through: stored.seq })
      if (entry?.kind === 'input') checkSame(entry.fact, isSame, field)
    } else events.messageAccepted()
    logger.info({ ...fields, duplicate }, 'message accepted')
    return stored
  } catch (err) {
    logger.error({ ...fields, err }, 'message not accepted')
    throw err
  }
}
