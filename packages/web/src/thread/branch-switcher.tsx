import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { IconButton } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { useStore } from '../state/store.ts'
import type { Turn } from '../state/turn.ts'

export interface BranchSwitcherProps {
  readonly turn: Turn
  readonly session: ChatSession
}

/** Leads to the other versions of a message. */
export function BranchSwitcher({ turn, session }: BranchSwitcherProps): ReactNode {
  const { branches, id } = turn
  const history = useStore(session.history)
  const group = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    // The switcher that was used is gone with its version.
    if (session.takeChosen(id)) group.current?.focus()
  }, [session, id])
  if (branches.length < 2) return null
  const index = branches.indexOf(id)
  const step = (by: number, label: string): ReactNode => {
    const wanted = branches[index + by]
    return (
      <IconButton
        icon={by < 0 ? 'back' : 'next'}
        label={label}
        isTight
        disabled={wanted === undefined || history.state === 'loading'}
        onClick={() => wanted !== undefined && session.choose(wanted)}
      />
    )
  }
  return (
    <span ref={group} role="group" aria-label="Versions" tabIndex={-1} className="branches">
      {step(-1, 'Earlier version')}
      {`${index + 1} of ${branches.length}`}
      {step(1, 'Later version')}
    </span>
  )
}
