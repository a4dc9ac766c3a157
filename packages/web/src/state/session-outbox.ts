import type { OutboxStore } from '@mcp-host/client'
import { storedOutbox } from '@mcp-host/client'
import { browserStorage } from './browser-storage.ts'

const PREFIX = 'outbox '
/** The key of the id of the user who began a session of which no message is known to be stored. */
const BEGUN = 'begun '

/** What was said in a session and is not accepted yet, in the storage of the browser. */
export function sessionOutbox(session: string): OutboxStore {
  return storedOutbox(browserStorage, `${PREFIX}${session}`)
}

/** Ids of the sessions in which something was said that is not accepted yet. */
export function sessionsToSend(): string[] {
  return Array.from(new Set(storedKeys(PREFIX).map((key) => key.split(' ')[1] ?? '')))
}

/** Moves what was said in a session to another one, which takes its place. */
export function moveOutbox(from: string, to: string): void {
  const frames = sessionOutbox(from).load()
  const user = begunBy(from)
  // Before anything is awaited: another tab moves the same messages.
  forgetOutbox(from)
  sessionOutbox(to).save(frames)
  if (user !== undefined) noteBegun(to, user)
}

export function noteBegun(session: string, user: string): void {
  browserStorage.setItem(`${BEGUN}${session}`, user)
}

/** The user who began a session of which no message is known to be stored. */
export function begunBy(session: string): string | undefined {
  return browserStorage.getItem(`${BEGUN}${session}`) ?? undefined
}

/** Notes that the host has a message of the session. */
export function noteStored(session: string): void {
  browserStorage.removeItem(`${BEGUN}${session}`)
}

/** Forgets what was said in a session that is gone; without an id in all sessions, as after a logout. */
export function forgetOutbox(session?: string): void {
  const prefixes =
    session === undefined ? [PREFIX, BEGUN] : [`${PREFIX}${session} `, `${BEGUN}${session}`]
  for (const key of prefixes.flatMap(storedKeys)) browserStorage.removeItem(key)
}

function storedKeys(prefix: string): string[] {
  return browserStorage.keys.filter((key) => key.startsWith(prefix))
}
