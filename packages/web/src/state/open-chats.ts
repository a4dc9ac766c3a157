import { ChatSession } from './chat-session.ts'
import { sessionsToSend } from './session-outbox.ts'

/** Sessions that stay open after the user has gone to another one. */
const MAX_OPEN = 4

/** The most recent last. */
const open = new Map<string, ChatSession>()

/** The session with this id, which stays open for a while: going back to it shows it at once. */
export function openChat(id: string, isNew: boolean): ChatSession {
  const session = open.get(id) ?? new ChatSession(id, isNew)
  open.delete(id)
  open.set(id, session)
  for (const [oldest, each] of open) {
    if (open.size <= MAX_OPEN) break
    if (each.hasUnsent) continue
    open.delete(oldest)
    each[Symbol.dispose]()
  }
  return session
}

/** Opens the sessions in which an earlier page has left messages, so that they are sent. */
export function sendLeftMessages(): void {
  for (const id of sessionsToSend()) openChat(id, false)
}

/** Connects the open sessions again, as after another login. Components that are drawn again get them. */
export function reopenChats(): void {
  for (const each of open.values()) each[Symbol.dispose]()
  open.clear()
}
