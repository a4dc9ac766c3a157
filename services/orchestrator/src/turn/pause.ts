import { setTimeout as delay } from 'node:timers/promises'
import type { ClaimedTurn } from './turn.ts'

/** Waits, but not longer than the turn is wanted here. */
export async function pause(
  { cancelled, leaving, over }: Pick<ClaimedTurn, 'cancelled' | 'leaving' | 'over'>,
  ms: number,
): Promise<void> {
  if (ms <= 0) return
  const signal = AbortSignal.any([cancelled, leaving, over])
  // The caller looks at the signals next.
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
