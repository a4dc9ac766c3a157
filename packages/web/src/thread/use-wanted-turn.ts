import type { RefObject } from 'react'
import { useEffect } from 'react'
import type { VListHandle } from 'virtua'
import type { ChatSession } from '../state/chat-session.ts'
import { useStore } from '../state/store.ts'

/** Scrolls to the message whose editor is asked for: a turn out of view is not in the page. */
export function useWantedTurn(session: ChatSession, list: RefObject<VListHandle | null>): void {
  const wanted = useStore(session.wantedEditor)
  useEffect(() => {
    if (wanted === undefined) return
    const index = session.thread.turns.get().findIndex((turn) => turn.get().id === wanted)
    list.current?.scrollToIndex(index, { align: 'start' })
  }, [wanted, session, list])
}
