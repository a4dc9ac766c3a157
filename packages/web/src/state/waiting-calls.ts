import type { Approval } from '@mcp-host/client'
import { admin } from './admin.ts'
import { Store } from './store.ts'

const POLL_MS = 5_000

/** The number of calls of programs that wait for a decision of the user. */
export const waitingCalls = new Store(0)

/** Reads these calls, the oldest first, and counts them. Throws `HostError`. */
export async function readWaitingCalls(): Promise<Approval[]> {
  const waiting = await admin.approvals()
  waitingCalls.set(waiting.length)
  return waiting
}

/** Counts the calls while the page is visible. */
export function followWaitingCalls(): () => void {
  const look = (): void => {
    // The state of the connection says what is wrong.
    if (!document.hidden) readWaitingCalls().catch(() => undefined)
  }
  look()
  const timer = setInterval(look, POLL_MS)
  document.addEventListener('visibilitychange', look)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  }
}
