import { countOf } from '@mcp-host/client'

/** How many calls wait, in words; empty when none does. */
export function waitingText(count: number): string {
  if (count === 0) return ''
  return `${countOf(count, 'call')} ${count === 1 ? 'waits' : 'wait'} for you`
}
