import type { ReactNode } from 'react'
import { focusAround } from '../parts/focus-around.ts'
import { Mark } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import type { Turn } from '../state/turn.ts'
import { useIsGone } from '../state/use-is-gone.ts'
import { useRunningTurn } from '../state/use-running-turn.ts'

export interface TurnProgressProps {
  readonly turn: Turn
  readonly session: ChatSession
}

/** What a turn waits for, in words. */
export function TurnProgress({ turn, session }: TurnProgressProps): ReactNode {
  const { id, state, items, position } = turn
  const isGone = useIsGone(session)
  const running = useRunningTurn(session)
  const stop = (wanted: string) => (event: React.MouseEvent) => {
    focusAround(event.currentTarget, 'article')
    session.stop(wanted)
  }
  if (state === 'unsent')
    return (
      <p className="note">
        <Mark name="queued" /> Waiting for the host. It is sent as soon as it can be.
      </p>
    )
  if (state === 'queued') {
    const place =
      position === undefined || position === 1 ? 'next' : `number ${position} in the queue`
    return (
      <p className="note">
        <Mark name="queued" /> Waiting: this message is {place}.{' '}
        {position === 1 && running !== undefined && (
          // The model gets the beginning of the answer that ends, and then this message.
          <button type="button" className="text-button" onClick={stop(running)}>
            Answer it now
          </button>
        )}{' '}
        {!isGone && position !== undefined && (
          <button type="button" className="text-button" onClick={stop(id)}>
            Take it back
          </button>
        )}
      </p>
    )
  }
  if (state === 'withdrawn')
    return <p className="note">You took this message back. It is not answered.</p>
  if (state === 'waiting') {
    return (
      <p className="note">
        <Mark name="waits" /> Waiting for your answer.
      </p>
    )
  }
  if (state === 'running' && items.length === 0) {
    return (
      <p className="note">
        <Mark name="runs" /> Thinking
      </p>
    )
  }
  return null
}
