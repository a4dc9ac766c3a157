import type { Session } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Mark } from '../../parts/icon.tsx'
import { focusIfLost } from '../../parts/focus-if-lost.ts'
import { onEscape } from '../../parts/on-escape.ts'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { isPinned } from '../../state/known-sessions.ts'
import { route, sessionAddress } from '../../state/route.ts'
import type { Activity } from '../../state/session-activity.ts'
import { renameSession } from '../../state/session-list.ts'
import { useStore } from '../../state/store.ts'
import { isToday } from '../../state/time-text.ts'
import { SessionMenu } from './session-menu.tsx'

const ACTIVITIES: Readonly<
  Record<Activity, { readonly mark: 'runs' | 'waits'; readonly text: string }>
> = {
  running: { mark: 'runs', text: 'answering' },
  waiting: { mark: 'waits', text: 'waits for you' },
}

export interface SessionRowProps {
  readonly session: Session
  readonly activity: Activity | undefined
}

/** A chat in the list. */
export function SessionRow({ session, activity }: SessionRowProps): ReactNode {
  const { id, title, updatedAt } = session
  const here = useStore(route)
  const [state, setState] = useState<'shown' | 'editing' | 'edited'>('shown')
  const isOpen = here.page === 'chat' && here.session === id
  const shown = activity && ACTIVITIES[activity]
  if (state === 'editing')
    return <TitleEditor session={session} onDone={() => setState('edited')} />
  return (
    <li className="session">
      <a
        className="entry"
        href={sessionAddress(id)}
        // The editor is gone, so that the focus goes back.
        ref={state === 'edited' ? focusIfLost : undefined}
        aria-current={isOpen ? 'page' : undefined}
        // A text that is dropped at the message is put into it.
        draggable={false}
      >
        {shown !== undefined && <Mark name={shown.mark} />}
        <span className="name cut">{title === '' ? 'Without a title' : title}</span>
        {shown !== undefined && <span className="hidden">{shown.text}</span>}
        {isPinned(session) && <span className="hidden">pinned</span>}
        {isToday(updatedAt) && (
          <span className="meta" aria-hidden="true">
            <TimeAgo at={updatedAt} isNarrow />
          </span>
        )}
      </a>
      <SessionMenu session={session} onRename={() => setState('editing')} />
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
          onKeyDown={onEscape(onDone)}
        />
      </form>
    </li>
  )
}
