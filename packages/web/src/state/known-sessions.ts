import type { Session } from '@mcp-host/client'

/** The key of metadata by which a session stays at the top of the list. */
export const PINNED = 'pinned'

export interface KnownSessions {
  /** The newest first. */
  readonly sessions: readonly Session[]
  /** All sessions that were used after this time are known; only some of the older ones. In epoch milliseconds. */
  readonly since: number
  /** Leads to the sessions before `since`; `undefined`: there are none. */
  readonly next: string | undefined
}

interface SessionPage {
  readonly sessions: readonly Session[]
  readonly next?: string
}

export const NOTHING_KNOWN: KnownSessions = { sessions: [], since: Infinity, next: undefined }

/** With the first page of the list, and all pinned sessions. */
export function withNewest(
  known: KnownSessions,
  page: SessionPage,
  pinned: readonly Session[],
): KnownSessions {
  const end = endOf(page)
  const pins = new Set(pinned.map(({ id }) => id))
  // What is missing in the page was deleted; elsewhere a session may have been unpinned.
  const older = known.sessions
    .filter(({ updatedAt }) => updatedAt < end)
    .map((each) => (isPinned(each) && !pins.has(each.id) ? withPin(each, false) : each))
  const hasOlderPages = known.since < end
  return {
    sessions: joined(page.sessions, pinned, older),
    since: hasOlderPages ? known.since : end,
    next: hasOlderPages ? known.next : page.next,
  }
}

/** With the page to which `next` led. */
export function withOlder(known: KnownSessions, page: SessionPage): KnownSessions {
  const sessions = joined(page.sessions, known.sessions)
  return { sessions, since: endOf(page), next: page.next }
}

/** With sessions that were found anywhere in the list. */
export function withFound(known: KnownSessions, found: readonly Session[]): KnownSessions {
  return { ...known, sessions: joined(found, known.sessions) }
}

/** Those with these words in their title; without words those of the pages that were read, and pinned ones. */
export function shownSessions(
  { sessions, since }: KnownSessions,
  words: string,
): readonly Session[] {
  const wanted = words.toLowerCase()
  return sessions.filter((session) =>
    wanted === ''
      ? session.updatedAt >= since || isPinned(session)
      : session.title.toLowerCase().includes(wanted),
  )
}

export function isPinned({ metadata }: Session): boolean {
  return metadata?.[PINNED] === true
}

export function withPin(session: Session, isKept: boolean): Session {
  const { [PINNED]: _, ...others } = session.metadata ?? {}
  return { ...session, metadata: isKept ? { ...others, [PINNED]: true } : others }
}

function endOf({ sessions, next }: SessionPage): number {
  return next === undefined ? -Infinity : (sessions.at(-1)?.updatedAt ?? -Infinity)
}

/** Each session once, as the first list has it. */
function joined(...lists: readonly (readonly Session[])[]): readonly Session[] {
  const byId = new Map<string, Session>()
  for (const session of lists.flat()) if (!byId.has(session.id)) byId.set(session.id, session)
  return Array.from(byId.values()).toSorted((one, other) => other.updatedAt - one.updatedAt)
}
