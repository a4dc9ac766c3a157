import { useSyncExternalStore } from 'react'
import type { Thread } from './thread.ts'

/** Id of the first message that is not answered; `undefined` without one. */
export function useRunningTurn(thread: Thread): string | undefined {
  return useSyncExternalStore(thread.subscribeChanges, () => thread.unanswered)
}
