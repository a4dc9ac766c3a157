import type { ReactNode } from 'react'
import { useStore } from '../../state/store.ts'
import { waitingCalls } from '../../state/waiting-calls.ts'
import { waitingText } from '../../state/waiting-text.ts'

/** The number of calls of programs that wait for a decision; nothing when none does. */
export function WaitingBadge(): ReactNode {
  const count = useStore(waitingCalls)
  if (count === 0) return null
  return (
    <>
      {' '}
      <span className="badge num" aria-hidden="true">
        {count}
      </span>
      <span className="hidden">{waitingText(count)}</span>
    </>
  )
}
