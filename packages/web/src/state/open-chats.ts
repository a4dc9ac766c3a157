import { ChatSession } from './chat-session.ts'
import { moveDraft } from './draft.ts'
import { host } from './host.ts'
import { forgetDraft, keepRefused, readRefused, userOfDrafts } from './kept-draft.ts'
import { replaceNewChat } from './route.ts'
import { begunBy, moveOutbox, sessionsToSend } from './session-outbox.ts'

/** Sessions that stay open after the user has gone to another one. */
const MAX_OPEN = 4

/** The most recent last. */
const open = new Map<string, ChatSession>()

/** The session with this id, which stays open for a while: going back to it shows it at once. */
export function openChat(id: string, isNew: boolean): ChatSession {
  const session = open.get(id) ?? begin(id, isNew)
  open.delete(id)
  open.set(id, session)
  // Each one over HTTP holds one of the six connections that browsers open to a host.
  const most = Array.from(open.values()).some((each) => each.isOverHttp) ? 1 : MAX_OPEN
  for (const [oldest, each] of open) {
    if (open.size <= most) break
    if (each.hasUnsent) continue
    open.delete(oldest)
    each[Symbol.dispose]()
  }
  return session
}

function begin(id: string, isNew: boolean): ChatSession {
  const session = new ChatSession(id, isNew)
  session.connection.subscribe(() => {
    // A fault leaves the refusal in view and what was written in the storage, for the next load of the page.
    if (session.isUnknown) void move(session).catch(() => undefined)
  })
  return session
}

/** Moves what was written in a session that the host does not know, as one that began in an outage, to one that it made. */
async function move(from: ChatSession): Promise<void> {
  const { id: user } = await host.me()
  // What another user of this browser has written waits for that user.
  if ((begunBy(from.id) ?? userOfDrafts() ?? user) !== user) return
  const to = await host.createSession()
  // Another login has closed it, and its next connection moves it.
  if (open.get(from.id) !== from) return
  moveOutbox(from.id, to)
  keepRefused(to, readRefused(from.id))
  moveDraft(from.id, to)
  forgetDraft(from.id)
  open.delete(from.id)
  from[Symbol.dispose]()
  // Not moved again: a host that refuses its own ids would refuse the next one too.
  open.set(to, new ChatSession(to, true))
  replaceNewChat(from.id, to)
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
