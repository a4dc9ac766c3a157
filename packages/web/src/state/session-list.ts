import type { Session } from '@mcp-host/client'
import { host } from './host.ts'
import { messageOf } from './message-of.ts'
import { forgetOutbox } from './session-outbox.ts'
import { Store } from './store.ts'

export interface SessionList {
  readonly sessions: readonly Session[]
  /** Leads to older sessions. */
  readonly next: string | undefined
  /** Why the list is not up to date. */
  readonly fault: string | undefined
}

const POLL_MS = 10_000
/** A record is written a little after the message. */
const SOON_MS = [300, 1_500]

export const sessionList = new Store<SessionList>({
  sessions: [],
  next: undefined,
  fault: undefined,
})

/** Reads the newest sessions, and keeps older ones that are known. */
async function refresh(): Promise<void> {
  const before = sessionList.get()
  try {
    const { sessions, next } = await host.sessions({ limit: 50 })
    const known = new Set(sessions.map(({ id }) => id))
    const oldest = sessions.at(-1)?.updatedAt ?? 0
    const older = before.sessions.filter((each) => !known.has(each.id) && each.updatedAt < oldest)
    sessionList.set({
      sessions: [...sessions, ...older],
      next: older.length > 0 ? before.next : next,
      fault: undefined,
    })
  } catch (error) {
    sessionList.set({ ...before, fault: messageOf(error) })
  }
}

/** Follows the list while the page is visible. */
export function followSessions(): () => void {
  void refresh()
  const timer = setInterval(() => document.hidden || void refresh(), POLL_MS)
  return () => clearInterval(timer)
}

/** Something has changed: the list shows it soon. */
export function touchSessions(): void {
  for (const delay of SOON_MS) setTimeout(() => void refresh(), delay)
}

export async function loadOlderSessions(): Promise<void> {
  const { next: before } = sessionList.get()
  if (before === undefined) return
  try {
    const { sessions, next } = await host.sessions({ limit: 50, before })
    const list = sessionList.get()
    // The button may have been pressed twice.
    if (list.next !== before) return
    sessionList.set({ sessions: [...list.sessions, ...sessions], next, fault: undefined })
  } catch (error) {
    sessionList.set({ ...sessionList.get(), fault: messageOf(error) })
  }
}

/** Shows the new title at once. */
export async function renameSession(id: string, title: string): Promise<void> {
  const list = sessionList.get()
  const sessions = list.sessions.map((each) => (each.id === id ? { ...each, title } : each))
  sessionList.set({ ...list, sessions })
  await changing(host.updateSession(id, { title }))
}

/** Keeps a session at the top of the list, or no longer. */
export async function pinSession(session: Session, isKept: boolean): Promise<void> {
  const { pinned: _, ...others } = session.metadata ?? {}
  const metadata = isKept ? { ...others, pinned: true } : others
  const list = sessionList.get()
  const sessions = list.sessions.map((each) =>
    each.id === session.id ? { ...each, metadata } : each,
  )
  sessionList.set({ ...list, sessions })
  await changing(host.updateSession(session.id, { metadata }))
}

export function isPinned({ metadata }: Session): boolean {
  return metadata?.['pinned'] === true
}

export async function deleteSession(id: string): Promise<void> {
  const list = sessionList.get()
  sessionList.set({ ...list, sessions: list.sessions.filter((each) => each.id !== id) })
  if (await changing(host.deleteSession(id))) forgetOutbox(id)
}

/** A change that the list shows already. If the host refuses it (`false`), the list says so and is read again. */
async function changing(change: Promise<unknown>): Promise<boolean> {
  try {
    await change
    return true
  } catch (error) {
    await refresh()
    sessionList.set({ ...sessionList.get(), fault: messageOf(error) })
    return false
  }
}
