import type { ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'
import { Composer } from '../composer/composer.tsx'
import { StopByEscape } from '../composer/stop-by-escape.tsx'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { IconButton } from '../parts/icon.tsx'
import { focusMessage } from '../parts/focus-message.ts'
import { PageBar } from '../parts/page-bar.tsx'
import { draftOf } from '../state/draft.ts'
import { openChat } from '../state/open-chats.ts'
import { openDebug } from '../state/route.ts'
import { sendMessage } from '../state/send-message.ts'
import { sessionList } from '../state/session-list.ts'
import { useStore } from '../state/store.ts'
import { useIsGone } from '../state/use-is-gone.ts'
import { ThreadView } from '../thread/thread-view.tsx'
import { TurnStatus } from '../thread/turn-status.tsx'
import { ConnectionBox, ConnectionState } from './connection-state.tsx'
import { ContextGauge } from './context-gauge.tsx'
import { FirstSteps } from './first-steps.tsx'
import { HostBox } from './host-box.tsx'
import { LoginsBox } from './logins-box.tsx'
import { LogInAgain } from './log-in-again.tsx'

const SessionSettings = lazy(async () => ({
  default: (await import('./session/session-settings.tsx')).SessionSettings,
}))
const ShareDialog = lazy(async () => ({
  default: (await import('./share-dialog.tsx')).ShareDialog,
}))

export interface ChatPageProps {
  readonly id: string
  /** Whether nothing was said in it. */
  readonly isNew: boolean
}

/** One session. */
export function ChatPage({ id, isNew }: ChatPageProps): ReactNode {
  const session = openChat(id, isNew)
  const turns = useStore(session.thread.turns)
  const history = useStore(session.history)
  const connection = useStore(session.connection)
  const known = useStore(sessionList).sessions.find((each) => each.id === id)
  const [panel, setPanel] = useState<'settings' | 'share'>()
  const isGone = useIsGone(session)
  const draft = draftOf(id)
  const title = isNew ? 'New chat' : known?.title || 'Chat'
  const close = (): void => setPanel(undefined)
  const isEmpty = turns.length === 0 && history.state !== 'failed'
  return (
    <>
      <PageBar title={title} state={<ConnectionState session={session} />}>
        {!isNew && !isGone && (
          <>
            <IconButton icon="share" label="Share this chat" onClick={() => setPanel('share')} />
            <IconButton icon="trace" label="Events of this chat" onClick={() => openDebug(id)} />
          </>
        )}
        {!isGone && (
          <IconButton icon="settings" label="Settings" onClick={() => setPanel('settings')} />
        )}
      </PageBar>
      {panel !== undefined && !isGone && (
        <ErrorBoundary what="This panel">
          <Suspense>
            {panel === 'settings' ? (
              <SessionSettings id={id} isNew={isNew} onClose={close} />
            ) : (
              <ShareDialog session={{ id, title }} onClose={close} />
            )}
          </Suspense>
        </ErrorBoundary>
      )}
      {isEmpty ? (
        <FirstSteps
          onChoose={(text) => {
            // The suggestion goes away with its focus.
            focusMessage()
            sendMessage(session, draft, { text, files: [] })
          }}
          isEnded={connection.state === 'ended'}
          isLoading={history.state === 'loading'}
        />
      ) : (
        <ThreadView key={id} session={session} />
      )}
      <TurnStatus key={`status ${id}`} thread={session.thread} />
      <div className="dock">
        <ConnectionBox session={session} />
        <LogInAgain />
        <HostBox isEmpty={isEmpty} />
        <LoginsBox />
        <StopByEscape key={`stop ${id}`} session={session} />
        <Composer
          session={session}
          draft={draft}
          gauge={<ContextGauge key={id} session={session} />}
        />
      </div>
    </>
  )
}
