import type { Session } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { lazy, Suspense, useRef, useState } from 'react'
import { focusAround } from '../../parts/focus-around.ts'
import { openDebug, openNewChat, route } from '../../state/route.ts'
import { isPinned } from '../../state/known-sessions.ts'
import { deleteSession, pinSession, saveSession } from '../../state/session-list.ts'
import { isDoubleClick } from '../../parts/confirm-button.tsx'
import { ErrorBoundary } from '../../parts/error-boundary.tsx'
import { Icon } from '../../parts/icon.tsx'
import { onEscape } from '../../parts/on-escape.ts'

const ShareDialog = lazy(async () => ({
  default: (await import('../share-dialog.tsx')).ShareDialog,
}))
const SessionSettings = lazy(async () => ({
  default: (await import('../session/session-settings.tsx')).SessionSettings,
}))

export interface SessionMenuProps {
  readonly session: Session
  readonly onRename: () => void
}

/** What can be done with a session. */
export function SessionMenu({ session, onRename }: SessionMenuProps): ReactNode {
  const { id, title } = session
  const menu = useRef<HTMLDetailsElement>(null)
  const [isAsking, setIsAsking] = useState(false)
  const [panel, setPanel] = useState<'share' | 'settings'>()
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false
    menu.current?.querySelector('summary')?.focus()
  }
  const act = (action: () => void) => () => {
    close()
    action()
  }
  const erase = async (): Promise<void> => {
    if (menu.current !== null) focusAround(menu.current, 'nav')
    const here = route.get()
    if (here.page === 'chat' && here.session === id) openNewChat()
    await deleteSession(id)
  }
  const item = (name: string, action: () => void): ReactNode => (
    <button type="button" onClick={act(action)}>
      {name}
    </button>
  )
  return (
    <>
      <details
        ref={menu}
        className="menu"
        name="session-menu"
        onKeyDown={(event) => menu.current?.open === true && onEscape(close)(event)}
        onToggle={({ currentTarget }) => {
          setIsAsking(false)
          if (!currentTarget.open) return
          currentTarget.querySelector('.menu-list')?.scrollIntoView({ block: 'nearest' })
          closeOutside(currentTarget)
        }}
      >
        <summary aria-label={`More for ${title}`}>
          <Icon name="more" />
        </summary>
        <div className="menu-list">
          {item('Rename', onRename)}
          {item(isPinned(session) ? 'Unpin' : 'Pin', () => {
            void pinSession(session, !isPinned(session))
          })}
          {item('Share', () => setPanel('share'))}
          {item('Settings', () => setPanel('settings'))}
          {item('Export as Markdown', () => void saveSession(id, title, 'md'))}
          {item('Export as JSON', () => void saveSession(id, title, 'json'))}
          <button type="button" onClick={act(() => openDebug(id))} data-closes-sidebar>
            Events
          </button>
          <button
            type="button"
            className="bad"
            onClick={({ detail }) => {
              if (!isAsking) setIsAsking(true)
              else if (!isDoubleClick(detail)) void erase()
            }}
          >
            {isAsking ? 'Erase it for ever' : 'Delete'}
          </button>
        </div>
      </details>
      {panel !== undefined && (
        <ErrorBoundary what="This panel">
          <Suspense>
            {panel === 'share' ? (
              <ShareDialog session={session} onClose={() => setPanel(undefined)} />
            ) : (
              <SessionSettings id={id} isNew={false} onClose={() => setPanel(undefined)} />
            )}
          </Suspense>
        </ErrorBoundary>
      )}
    </>
  )
}

/** Closes a menu as soon as the pointer is pressed elsewhere. */
function closeOutside(menu: HTMLDetailsElement): void {
  const end = new AbortController()
  const press = ({ target }: PointerEvent): void => {
    if (target instanceof Node && menu.contains(target)) return
    end.abort()
    menu.open = false
  }
  addEventListener('pointerdown', press, { signal: end.signal })
  menu.addEventListener('toggle', () => end.abort(), { signal: end.signal })
}
