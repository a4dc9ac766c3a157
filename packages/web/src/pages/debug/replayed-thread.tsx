import type { ClientEvent } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useMemo, useRef } from 'react'
import type { VListHandle } from 'virtua'
import { VList } from 'virtua'
import { Thread } from '../../state/thread.ts'
import type { Turn } from '../../state/turn.ts'
import { ItemList } from '../../thread/item-list.tsx'

export interface ReplayedThreadProps {
  readonly events: readonly ClientEvent[]
  /** How many of them have happened. */
  readonly step: number
  /** Id of the session. */
  readonly session: string
}

/** The conversation as clients show it after so many events. Only its visible turns are in the page. */
export function ReplayedThread({ events, step, session }: ReplayedThreadProps): ReactNode {
  const turns = useMemo(() => turnsAfter(events.slice(0, step)), [events, step])
  const list = useRef<VListHandle>(null)
  const count = turns.length
  // The turn of the last event is the last one.
  useEffect(() => {
    if (count > 0) list.current?.scrollToIndex(count - 1, { align: 'end' })
  }, [step, count])
  return (
    <section className="replayed-thread" aria-label="Conversation at this step">
      <h2>Conversation at this step</h2>
      {count === 0 && <p className="note">It has no message yet.</p>}
      <VList ref={list} tabIndex={0}>
        {turns.map((turn) => (
          <ReplayedTurn key={turn.id} turn={turn} session={session} />
        ))}
      </VList>
    </section>
  )
}

function ReplayedTurn(props: { readonly turn: Turn; readonly session: string }): ReactNode {
  const { turn, session } = props
  return (
    <article className="replayed">
      <p className="bubble user">{turn.text}</p>
      <ItemList items={turn.items} sessionId={session} />
      <p className="note">
        {turn.state}
        {turn.outcome !== undefined && `: ${turn.outcome}`} {turn.error}
      </p>
    </article>
  )
}

function turnsAfter(events: readonly ClientEvent[]): Turn[] {
  const thread = new Thread()
  thread.take(events)
  return thread.turns.get().map((turn) => turn.get())
}
