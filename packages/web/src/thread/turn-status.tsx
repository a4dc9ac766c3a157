import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import type { Thread } from '../state/thread.ts'
import { NO_NOTICE, nextNotice } from '../state/turn-notice.ts'

/** Tells screen readers of answers that end and of new questions; the text that arrives is not read out. */
export function TurnStatus({ thread }: { readonly thread: Thread }): ReactNode {
  const [{ text, key }, setNotice] = useState(NO_NOTICE)
  useEffect(() => {
    const look = (): void =>
      setNotice((before) =>
        nextNotice(
          before,
          thread.turns.get().map((turn) => turn.get()),
        ),
      )
    look()
    return thread.subscribeChanges(look)
  }, [thread])
  return (
    <p role="status" className="hidden">
      <span key={key}>{text}</span>
    </p>
  )
}
