import { sleep } from '@mcp-host/async'

/** Time as the demo model sees it. */
export interface Clock {
  /** Milliseconds since the epoch, with fractions. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts. */
  delay(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  delay: sleep,
}
