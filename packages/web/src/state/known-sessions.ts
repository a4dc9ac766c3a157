import type { Session } from '@mcp-host/client'

/** The key of metadata by which a session stays at the top of the list. */
export const PINNED = 'pinned'

export interface KnownSessions {
  /** The newest first. */
  readonly sessions: readonly Session[]
  /** Each session that was used after this time is in `sessions`. In epoch milliseconds. */
  readonly since: number
  /** Time of the newest session of the pages that were read without a gap down to `since`. In epoch milliseconds. */
  readonly until: number
  /** The cursor of the page before `since`; `undefined` without one. */
  readonly next: string | undefined
}

interface SessionPage {
  readonly sessions: readonly Session[]
  readonly next?: string
}

export const NOTHING_KNOWN: KnownSessions = {
  sessions: [],
  since: Infinity,
  until: -Infinity,
  next: undefined,
}

/** Adds the first page of the list and all pinned sessions, and drops sessions that the page should have and lacks. */
export function withNewest(
  known: KnownSessions,
  page: SessionPage,
  pinned: readonly Session[],
): KnownSessions {
  const end = endOf(page)
  const pins = new Set(pinned.map(({ id }) => id))
  const older = known.sessions
    .filter((each) => isBehind(each, page))
    // Another tab has unpinned it.
    .map((each) => (isPinned(each) && !pins.has(each.id) ? withPin(each, false) : each))
  // Otherwise sessions between the page and the pages before it are missing. Search results may be newer than those.
  const isContiguous = end <= known.until
  const hasOlderPages = isContiguous && known.since < end
  return {
    sessions: joined(page.sessions, pinned, older),
    since: hasOlderPages ? known.since : end,
    until: page.sessions[0]?.updatedAt ?? -Infinity,
    next: hasOlderPages ? known.next : page.next,
  }
}

/** Adds the page to which `next` led. */
export function withOlder(known: KnownSessions, page: SessionPage): KnownSessions {
  const sessions = joined(page.sessions, known.sessions)
  return { ...known, sessions, since: endOf(page), next: page.next }
}

/** Adds sessions that a search found. */
export function withFound(known: KnownSessions, found: readonly Session[]): KnownSessions {
  return { ...known, sessions: joined(found, known.sessions) }
}

/** The sessions whose title contains `words`; without words those of the pages that were read, and pinned ones. */
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

/** Whether a session comes after the page in the order of the host: by time, then by id. */
function isBehind({ updatedAt, id }: Session, { sessions, next }: SessionPage): boolean {
  const last = sessions.at(-1)
  if (next === undefined || last === undefined) return false
  return updatedAt < last.updatedAt || (updatedAt === last.updatedAt && id > last.id)
}

/** Each session once: its newest record, or else that of the first list. */
function joined(...lists: readonly (readonly Session[])[]): readonly Session[] {
  const byId = new Map<string, Session>()
  for (const session of lists.flat()) {
    const known = byId.get(session.id)
    if (known === undefined || known.updatedAt < session.updatedAt) byId.set(session.id, session)
  }
  return Array.from(byId.values()).toSorted((one, other) => other.updatedAt - one.updatedAt)
}
