import type { Session } from '@mcp-host/client'
import { exportSession } from './export-session.ts'
import { host } from './host.ts'
import { forgetDraft } from './kept-draft.ts'
import type { KnownSessions } from './known-sessions.ts'
import {
  NOTHING_KNOWN,
  PINNED,
  withFound,
  withNewest,
  withOlder,
  withPin,
} from './known-sessions.ts'
import { Latest } from './latest.ts'
import { messageOf } from './message-of.ts'
import { forgetOutbox } from './session-outbox.ts'
import { Store } from './store.ts'

export interface SessionList extends KnownSessions {
  /** What did not succeed, and why. */
  readonly fault: string | undefined
}

const POLL_MS = 10_000
/** A record is written about 200 ms after its message, and later on a busy host, for which the second look is. */
const SOON_MS = [300, 1_500]

/** Most results of one search. */
const MAX_FOUND = 50
const MAX_PINNED = 100
/** Delay between the last keystroke and the search. */
const TYPING_MS = 200

export const sessionList = new Store<SessionList>({ ...NOTHING_KNOWN, fault: undefined })

const refreshes = new Latest()
/** Ids of sessions that this page has deleted: a late reply may still have them. */
const deleted = new Set<string>()

function show(list: SessionList): void {
  sessionList.set({ ...list, sessions: list.sessions.filter(({ id }) => !deleted.has(id)) })
}

/** Reads the newest and the pinned sessions, and keeps older ones that are known. */
async function refresh(): Promise<void> {
  const isLatest = refreshes.begin()
  try {
    const [page, { sessions: pinned }] = await Promise.all([
      host.sessions({ limit: 50 }),
      host.sessions({ limit: MAX_PINNED, metadataKey: PINNED }),
    ])
    if (isLatest()) show({ ...withNewest(sessionList.get(), page, pinned), fault: undefined })
  } catch (error) {
    tell('The list may be out of date', error)
  }
}

/** Adds all sessions whose title contains `words` to `sessionList`. The returned function cancels the search. */
export function findSessions(words: string): () => void {
  if (words === '') return () => {}
  let isStopped = false
  const find = async (): Promise<void> => {
    try {
      const { sessions } = await host.sessions({ limit: MAX_FOUND, title: words })
      const list = sessionList.get()
      if (!isStopped) show({ ...list, ...withFound(list, sessions) })
    } catch (error) {
      if (!isStopped) tell('The search failed', error)
    }
  }
  const timer = setTimeout(() => void find(), TYPING_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
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
    const page = await host.sessions({ limit: 50, before })
    const list = sessionList.get()
    // The button may have been pressed twice.
    if (list.next !== before) return
    show({ ...withOlder(list, page), fault: undefined })
  } catch (error) {
    tell('Older chats could not be loaded', error)
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
  const changed = withPin(session, isKept)
  const list = sessionList.get()
  const sessions = list.sessions.map((each) => (each.id === session.id ? changed : each))
  sessionList.set({ ...list, sessions })
  await changing(host.updateSession(session.id, { metadata: changed.metadata ?? {} }))
}

export async function deleteSession(id: string): Promise<void> {
  deleted.add(id)
  show(sessionList.get())
  const isDone = await changing(host.deleteSession(id), () => deleted.delete(id))
  if (!isDone) return
  forgetOutbox(id)
  forgetDraft(id)
}

/** Saves the history of a session as a file of the user. */
export async function saveSession(...what: Parameters<typeof exportSession>): Promise<void> {
  await exportSession(...what).catch((error: unknown) => tell('The chat was not exported', error))
}

/** Says in the list what did not succeed. */
function tell(what: string, error: unknown): void {
  sessionList.set({ ...sessionList.get(), fault: `${what}: ${messageOf(error)}` })
}

/** A change that the list shows already. If the host refuses it (`false`), the list says so and is read again. */
async function changing(change: Promise<unknown>, onRefused?: () => void): Promise<boolean> {
  try {
    await change
    return true
  } catch (error) {
    onRefused?.()
    await refresh()
    tell('The change was not saved', error)
    return false
  }
}
