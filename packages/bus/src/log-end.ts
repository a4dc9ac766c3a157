import type { LostRange } from '@mcp-host/contracts'

/** Whether what had a sequence was lost with damaged data: who saw it has to load the session again. */
export function wasLost(ranges: readonly LostRange[], seq: number): boolean {
  return ranges.some(({ after, through }) => after < seq && seq <= through)
}
