import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import type { BusError } from '@mcp-host/contracts'

/** Longer than a cluster's election after its leader died. */
export const PATIENCE_MS = 30_000
const PAUSE_MS = 200

export interface Patience {
  readonly connection: NatsConnection
  /** Default 30,000. */
  readonly patienceMs?: number
  /** Whether trying again is of no use. */
  readonly isHopeless: (error: unknown) => boolean
  /** Converts the last error. */
  readonly report: (error: unknown) => BusError
}

/** Tries again while the broker is away: only for what may be done twice. */
export async function retryWhileUnavailable<T>(
  act: () => Promise<T>,
  { connection, patienceMs = PATIENCE_MS, isHopeless, report }: Patience,
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (isHopeless(error) || connection.isClosed() || Date.now() >= giveUpAt) throw report(error)
      await delay(PAUSE_MS)
    }
  }
}
