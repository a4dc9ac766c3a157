import type { ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'
import { Composer } from '../composer/composer.tsx'
import { ModelPicker } from '../composer/model-picker.tsx'
import { draftOf } from '../state/draft.ts'
import { openChat } from '../state/open-chats.ts'
import { useStore } from '../state/store.ts'
import { ThreadView } from '../thread/thread-view.tsx'
import { TurnStatus } from '../thread/turn-status.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { ContextGauge } from './context-gauge.tsx'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { FirstSteps } from './first-steps.tsx'
import { HostBanner } from './host-banner.tsx'

const SessionSettings = lazy(async () => ({
  default: (await import('./session-settings.tsx')).SessionSettings,
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
  const [isOpen, setIsOpen] = useState(false)
  const draft = draftOf(id)
  const model = useStore(draft.model)
  return (
    <>
      <div className="page-head">
        <ModelPicker value={model} onChange={(chosen) => draft.model.set(chosen)} />
        <span className="space" />
        <ContextGauge key={id} session={session} />
        <button type="button" onClick={() => setIsOpen(true)}>
          Settings
        </button>
      </div>
      {isOpen && (
        <ErrorBoundary what="This panel">
          <Suspense>
            <SessionSettings id={id} isNew={isNew} onClose={() => setIsOpen(false)} />
          </Suspense>
        </ErrorBoundary>
      )}
      <ConnectionBanner session={session} />
      <HostBanner />
      {turns.length === 0 && history.state !== 'failed' ? (
        <FirstSteps
          onChoose={(text) => draft.suggest(text, 'instead')}
          isLoading={history.state === 'loading'}
        />
      ) : (
        <ThreadView key={id} session={session} />
      )}
      <TurnStatus key={`status ${id}`} thread={session.thread} />
      <Composer session={session} draft={draft} />
    </>
  )
}
