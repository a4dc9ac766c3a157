import type { Session } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Mark } from '../../parts/icon.tsx'
import { dayGroupOf } from '../../state/day-groups.ts'
import { openSession, route } from '../../state/route.ts'
import type { Activity } from '../../state/session-activity.ts'
import { useActivity } from '../../state/session-activity.ts'
import { renameSession } from '../../state/session-list.ts'
import { useStore } from '../../state/store.ts'
import { clockOf } from '../../state/time-text.ts'
import { SessionMenu } from './session-menu.tsx'

const ACTIVITIES: Readonly<Record<Activity, { readonly mark: 'runs' | 'waits'; text: string }>> = {
  running: { mark: 'runs', text: 'answering' },
  waiting: { mark: 'waits', text: 'waits for you' },
}

/** A chat in the list. */
export function SessionRow({ session }: { readonly session: Session }): ReactNode {
  const { id, title, updatedAt } = session
  const here = useStore(route)
  const running = useActivity()(session)
  const [isEditing, setIsEditing] = useState(false)
  const isOpen = here.page === 'chat' && here.session === id
  const activity = running && ACTIVITIES[running]
  const isOfToday = dayGroupOf(updatedAt, Date.now()) === 'Today'
  if (isEditing) return <TitleEditor session={session} onDone={() => setIsEditing(false)} />
  return (
    <li className="session">
      <button
        type="button"
        className="entry"
        aria-current={isOpen ? 'page' : undefined}
        onClick={() => openSession(id)}
        data-leave
      >
        {activity !== undefined && <Mark name={activity.mark} />}
        <span className="name cut">{title === '' ? 'Without a title' : title}</span>
        {activity !== undefined && <span className="hidden">{activity.text}</span>}
        {isOfToday && (
          <span className="meta" aria-hidden="true">
            {clockOf(updatedAt)}
          </span>
        )}
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
    <li className="session">
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
