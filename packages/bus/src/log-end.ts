import type { LostRange } from '@mcp-host/contracts'

/** Whether the entry of a sequence was lost with damaged data. Clients that have it must load the session again. */
export function wasLost(ranges: readonly LostRange[], seq: number): boolean {
  return ranges.some(({ after, through }) => after < seq && seq <= through)
}
