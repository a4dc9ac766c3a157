import { setTimeout as delay } from 'node:timers/promises'
import type { GuardedProcess } from '@mcp-host/process'

/** Polls a starting process until `probe` has a result. `undefined`: the process has ended, or the time is over. */
export async function untilStarted<T>(
  { exited }: GuardedProcess,
  limitMs: number,
  probe: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let hasEnded = false
  void exited.then(() => (hasEnded = true))
  const giveUpAt = Date.now() + limitMs
  while (!hasEnded && Date.now() < giveUpAt) {
    const result = await probe()
    if (result !== undefined) return result
    await delay(10)
  }
  return undefined
}
