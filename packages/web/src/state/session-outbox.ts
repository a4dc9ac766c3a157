import type { OutboxStore } from '@mcp-host/client'
import { storedOutbox } from '@mcp-host/client'

const PREFIX = 'outbox '

/** What was said in a session and is not accepted yet, in the storage of the browser. */
export function sessionOutbox(session: string): OutboxStore {
  return storedOutbox(localStorage, `${PREFIX}${session}`)
}

/** Ids of the sessions in which something was said that is not accepted yet. */
export function sessionsToSend(): string[] {
  return Array.from(new Set(storedKeys(PREFIX).map((key) => key.split(' ')[1] ?? '')))
}

/** Forgets what was said in a session that is gone; without an id in all sessions, as after a logout. */
export function forgetOutbox(session?: string): void {
  const prefix = session === undefined ? PREFIX : `${PREFIX}${session} `
  for (const key of storedKeys(prefix)) localStorage.removeItem(key)
}

function storedKeys(prefix: string): string[] {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix))
}
