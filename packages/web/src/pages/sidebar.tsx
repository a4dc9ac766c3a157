import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import type { Session } from '@mcp-host/client'
import { openNewChat, openServers, openSession, route } from '../state/route.ts'
import { isPinned, shownSessions } from '../state/known-sessions.ts'
import {
  findSessions,
  followSessions,
  loadOlderSessions,
  renameSession,
  sessionList,
} from '../state/session-list.ts'
import { useStore } from '../state/store.ts'
import { runningSessions } from '../state/running-sessions.ts'
import { SessionMenu } from './session-menu.tsx'

/** The chats of the user, and the ways to the other pages. */
export function Sidebar({ onLeave }: { readonly onLeave: () => void }): ReactNode {
  const list = useStore(sessionList)
  const [search, setSearch] = useState('')
  useEffect(followSessions, [])
  const words = search.trim()
  useEffect(() => findSessions(words), [words])
  const found = shownSessions(list, words).toSorted(
    (one, other) => Number(isPinned(other)) - Number(isPinned(one)),
  )
  return (
    <nav
      className="sidebar"
      aria-label="Chats"
      onClick={({ target }) => isLink(target) && onLeave()}
    >
      <button type="button" className="primary" onClick={openNewChat} data-leave>
        New chat
      </button>
      <input
        type="search"
        aria-label="Search chats"
        placeholder="Search chats"
        maxLength={200}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {found.length === 0 && (
        <p className="note">
          {words === '' ? 'Your chats will be listed here.' : 'No chat has this title.'}
        </p>
      )}
      <ul className="sessions">
        {found.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      {list.next !== undefined && words === '' && (
        <button type="button" onClick={() => void loadOlderSessions()}>
          Show older chats
        </button>
      )}
      {list.fault !== undefined && (
        <p className="note warn">The list may be out of date: {list.fault}</p>
      )}
      <button type="button" onClick={openServers} data-leave>
        Tools and servers
      </button>
      <a className="button" href="#/account" data-leave>
        Account
      </a>
    </nav>
  )
}

function isLink(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-leave]') !== null
}

function SessionRow({ session }: { readonly session: Session }): ReactNode {
  const { id, title } = session
  const here = useStore(route)
  const isRunning = useStore(runningSessions).has(id)
  const [isEditing, setIsEditing] = useState(false)
  const isOpen = here.page === 'chat' && here.session === id
  if (isEditing) return <TitleEditor session={session} onDone={() => setIsEditing(false)} />
  return (
    <li className="session">
      <button
        type="button"
        className="session-title"
        aria-current={isOpen ? 'page' : undefined}
        onClick={() => openSession(id)}
        data-leave
      >
        {isPinned(session) && <span aria-label="Pinned">★</span>}
        <span>{title === '' ? 'Without a title' : title}</span>
        {isRunning && <small className="pulse">answering</small>}
      </button>
      <SessionMenu session={session} onRename={() => setIsEditing(true)} />
    </li>
  )
}

function TitleEditor({
  session,
  onDone,
}: {
  readonly session: Session
  readonly onDone: () => void
}): ReactNode {
  const [title, setTitle] = useState(session.title)
  const save = (event: React.FormEvent): void => {
    event.preventDefault()
    if (title.trim() !== '') void renameSession(session.id, title.trim())
    onDone()
  }
  return (
    <li>
      <form onSubmit={save}>
        <input
          aria-label="Title"
          value={title}
          autoFocus
          maxLength={200}
          onChange={({ target }) => setTitle(target.value)}
          onKeyDown={({ key }) => key === 'Escape' && onDone()}
        />
      </form>
    </li>
  )
}
