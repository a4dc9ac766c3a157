import type { ReactNode } from 'react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { useStore } from '../state/store.ts'
import type { TurnStore } from '../state/thread.ts'
import type { Question, Turn } from '../state/turn.ts'
import { useIsGone } from '../state/use-is-gone.ts'
import { ItemList } from './item-list.tsx'
import { TurnEnd } from './turn-end.tsx'
import { TurnProgress } from './turn-progress.tsx'
import { useIsInUse } from './use-is-in-use.ts'
import { UserMessage } from './user-message.tsx'

export interface TurnViewProps {
  readonly store: TurnStore
  readonly session: ChatSession
  /** Called when the turn begins, and ceases, to be used: until then it must stay in the page out of view. */
  readonly onKeep: (id: string, isKept: boolean) => void
}

/** A message of the user and its answer. */
export function TurnView({ store, session, onKeep }: TurnViewProps): ReactNode {
  const turn = useStore(store)
  const [isEditing, setIsEditing] = useState(false)
  const [apps, setApps] = useState(0)
  const article = useRef<HTMLElement>(null)
  const isInUse = useIsInUse(article)
  const countApps = useCallback((change: number) => setApps((count) => count + change), [])
  const questions = openQuestions(turn)
  // A turn that leaves the page forgets what was opened in it, and loses the focus.
  const isKept = isEditing || questions.size > 0 || apps > 0 || isInUse
  useEffect(() => {
    if (!isKept) return undefined
    onKeep(turn.id, true)
    return () => onKeep(turn.id, false)
  }, [turn.id, isKept, onKeep])
  return (
    <article
      ref={article}
      className="turn"
      data-state={turn.state}
      data-message={turn.id}
      tabIndex={-1}
    >
      <ErrorBoundary what="This message">
        <UserMessage turn={turn} session={session} onEdit={setIsEditing} />
        <Answer turn={turn} session={session} questions={questions} onApps={countApps} />
      </ErrorBoundary>
    </article>
  )
}

function Answer(props: {
  readonly turn: Turn
  readonly session: ChatSession
  readonly questions: ReturnType<typeof openQuestions>
  readonly onApps: (change: number) => void
}): ReactNode {
  const { turn, session, questions, onApps } = props
  const isGone = useIsGone(session)
  return (
    <div className="answer" aria-busy={turn.state === 'running'}>
      <ItemList
        items={turn.items}
        isOpen={turn.state === 'running'}
        waiting={questions}
        sessionId={session.id}
        session={isGone ? undefined : session}
        onApps={onApps}
      />
      <TurnProgress turn={turn} session={session} />
      <TurnEnd turn={turn} session={session} />
    </div>
  )
}

/** The open questions, by the tool calls that wait for them. */
function openQuestions({ items }: Turn): ReadonlyMap<string, Question['kind']> {
  return new Map(
    items.flatMap((item) =>
      item.kind === 'question' && item.end === undefined
        ? [[item.question.callId, item.question.kind]]
        : [],
    ),
  )
}
