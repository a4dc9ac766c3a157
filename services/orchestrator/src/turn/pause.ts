import { setTimeout as delay } from 'node:timers/promises'
import type { ClaimedTurn } from './turn.ts'

/** Waits for a time, or until this process no longer runs the turn. */
export async function pause(
  { cancelled, leaving, over }: Pick<ClaimedTurn, 'cancelled' | 'leaving' | 'over'>,
  ms: number,
): Promise<void> {
  if (ms <= 0) return
  const signal = AbortSignal.any([cancelled, leaving, over])
  // The caller checks the signals next.
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
