import { setTimeout as delay } from 'node:timers/promises'

/** Resolves when the clock has reached a time, in epoch milliseconds. A timer of Node may fire a millisecond early. */
export async function delayUntil(timeMs: number, now: () => number): Promise<void> {
  for (let restMs = timeMs - now(); restMs > 0; restMs = timeMs - now()) await delay(restMs)
}
