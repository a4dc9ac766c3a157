import type { Session } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { dayGroupOf } from '../../state/day-groups.ts'
import { isPinned, shownSessions } from '../../state/known-sessions.ts'
import { beginChat } from '../begin-chat.ts'
import type { Activity } from '../../state/session-activity.ts'
import { useActivity } from '../../state/session-activity.ts'
import {
  findSessions,
  followSessions,
  loadOlderSessions,
  sessionList,
} from '../../state/session-list.ts'
import { useStore } from '../../state/store.ts'
import { SessionRow } from './session-row.tsx'

/** The chats of the user by day. Chats that wait for the user, and pinned ones, come first. */
export function ChatList(): ReactNode {
  const list = useStore(sessionList)
  const activityOf = useActivity()
  const [search, setSearch] = useState('')
  useEffect(followSessions, [])
  const words = search.trim()
  useEffect(() => findSessions(words), [words])
  const found = shownSessions(list, words)
  const groups = Map.groupBy(found, (session) => groupOf(session, activityOf(session)))
  const titles = ['Waits for you', 'Pinned', ...groups.keys()]
  return (
    <>
      <div className="side-tools">
        <button
          type="button"
          onClick={beginChat}
          data-closes-sidebar
          aria-keyshortcuts="Control+Shift+O"
        >
          <Icon name="plus" />
          New chat
          <kbd aria-hidden="true">Ctrl ⇧ O</kbd>
        </button>
        <div className="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search chats"
            placeholder="Search chats"
            maxLength={200}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <kbd aria-hidden="true">Ctrl K</kbd>
        </div>
      </div>
      <nav className="side-list" aria-label="Chats" tabIndex={-1}>
        {found.length === 0 && (
          <p>
            {words === ''
              ? 'No chats yet. They are kept here, and nothing in them is lost when the host restarts.'
              : 'No chat has this title.'}
          </p>
        )}
        <ul>
          {/* One list, so that a chat that changes its group keeps what is open in its row. */}
          {Array.from(new Set(titles)).flatMap((title) => {
            const sessions = groups.get(title) ?? []
            if (sessions.length === 0) return []
            return [
              <li key={title}>
                <h2>{title}</h2>
              </li>,
              ...sessions.map((session) => (
                <SessionRow key={session.id} session={session} activity={activityOf(session)} />
              )),
            ]
          })}
        </ul>
        {list.next !== undefined && words === '' && (
          <button type="button" onClick={() => void loadOlderSessions()}>
            Show older chats
          </button>
        )}
        {list.fault !== undefined && <p role="alert">{list.fault}</p>}
      </nav>
    </>
  )
}

function groupOf(session: Session, activity: Activity | undefined): string {
  if (activity === 'waiting') return 'Waits for you'
  return isPinned(session) ? 'Pinned' : dayGroupOf(session.updatedAt, Date.now())
}
