import { useEffect, useEffectEvent } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import { useStore } from '../state/store.ts'

/** Scrolls to the message whose editor is asked for: a turn out of view is not in the page. */
export function useWantedTurn(session: ChatSession, scrollToTurn: (index: number) => void): void {
  const wanted = useStore(session.wantedEditor)
  const scroll = useEffectEvent((id: string) => {
    const index = session.thread.turns.get().findIndex((turn) => turn.get().id === id)
    if (index !== -1) scrollToTurn(index)
  })
  useEffect(() => {
    if (wanted !== undefined) scroll(wanted)
  }, [wanted])
}
