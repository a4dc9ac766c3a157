import type { ReactNode } from 'react'
import { useSyncExternalStore } from 'react'
import { focusQuestion } from '../parts/focus-question.ts'
import type { ChatSession } from '../state/chat-session.ts'
import { useIsGone } from '../state/use-is-gone.ts'

export interface EndButtonProps {
  readonly session: ChatSession
  readonly onEnd: () => void
}

/** Leads a reader to the question that waits for them, or to the newest message. */
export function EndButton({ session, onEnd }: EndButtonProps): ReactNode {
  const { thread } = session
  const isGone = useIsGone(session)
  const isAsked = useSyncExternalStore(thread.subscribeChanges, () => thread.asks) && !isGone
  return (
    <button
      type="button"
      className="to-end"
      onClick={({ currentTarget }) => {
        if (isAsked && focusQuestion()) return
        onEnd()
        // The button goes away.
        currentTarget
          .closest('section')
          ?.querySelector<HTMLElement>('.turns')
          ?.focus({ preventScroll: true })
      }}
    >
      {isAsked ? 'Go to the question for you' : 'Go to the latest message'}
    </button>
  )
}
