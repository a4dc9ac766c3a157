import type { ReactNode, RefObject } from 'react'
import { useSyncExternalStore } from 'react'
import { focusQuestion } from '../parts/focus-question.ts'
import type { ChatSession } from '../state/chat-session.ts'
import { useIsGone } from '../state/use-is-gone.ts'

export interface EndButtonProps {
  readonly session: ChatSession
  readonly scroller: RefObject<HTMLElement | null>
  readonly onEnd: () => void
}

/** Leads a reader to the question that waits for them, or to the newest message. */
export function EndButton({ session, scroller, onEnd }: EndButtonProps): ReactNode {
  const { thread } = session
  const isGone = useIsGone(session)
  const isAsked = useSyncExternalStore(thread.subscribeChanges, () => thread.asks) && !isGone
  return (
    <button
      type="button"
      className="to-end"
      onClick={() => {
        if (isAsked && focusQuestion()) return
        onEnd()
        // The button goes away.
        scroller.current?.focus({ preventScroll: true })
      }}
    >
      {isAsked ? 'Go to the question for you' : 'Go to the latest message'}
    </button>
  )
}
