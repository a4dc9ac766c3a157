import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'
import { isFinal } from './nats-error.ts'

/** The default time for retries, longer than a cluster takes to elect a leader. */
export const PATIENCE_MS = 30_000
const PAUSE_MS = 200

export interface RetryOptions {
  readonly connection: NatsConnection
  /** The message of the `unavailable` error after the last attempt. */
  readonly message: string
  readonly patienceMs?: number
  /** Whether further tries are useless; default `isFinal`. */
  readonly isHopeless?: (error: unknown) => boolean
  /** Converts the last error. Without a result, the operation throws `unavailable`. */
  readonly report?: (error: unknown) => BusError | undefined
}

/** Retries a repeatable operation while the broker is away. */
export async function retryWhileUnavailable<T>(
  act: () => Promise<T>,
  { connection, message, patienceMs = PATIENCE_MS, isHopeless = isFinal, report }: RetryOptions,
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs
  for (;;) {
    try {
      return await act()
    } catch (cause) {
      if (isHopeless(cause) || connection.isClosed() || Date.now() >= giveUpAt) {
        throw report?.(cause) ?? new BusError('unavailable', message, { cause })
      }
      await delay(PAUSE_MS)
    }
  }
}
