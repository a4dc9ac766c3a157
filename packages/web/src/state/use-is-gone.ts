import type { ChatSession } from './chat-session.ts'
import { useStore } from './store.ts'

/** Whether the chat was deleted, or the host refuses it: nothing in it can be changed. */
export function useIsGone({ connection }: ChatSession): boolean {
  const known = useStore(connection)
  return known.state === 'ended' && (known.why === 'deleted' || known.why === 'refused')
}
