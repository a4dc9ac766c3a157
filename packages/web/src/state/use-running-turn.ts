import { useSyncExternalStore } from 'react'
import type { ChatSession } from './chat-session.ts'
import { useIsGone } from './use-is-gone.ts'

/** Id of the first message that is not answered; `undefined` without one, and in a chat that is gone. */
export function useRunningTurn(session: ChatSession): string | undefined {
  const { thread } = session
  const running = useSyncExternalStore(thread.subscribeChanges, () => thread.unanswered)
  return useIsGone(session) ? undefined : running
}
