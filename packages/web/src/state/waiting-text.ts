/** How many calls wait, in words; empty when none does. */
export function waitingText(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '1 call waits for you' : `${count} calls wait for you`
}
