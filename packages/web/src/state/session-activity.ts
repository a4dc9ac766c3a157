import type { Session } from '@mcp-host/client'
import { Store, useStore } from './store.ts'

/** `waiting`: a question of it waits for the user. */
export type Activity = 'running' | 'waiting'

/** What the sessions do that this page follows, by their ids. `idle`: every message is answered. */
const followed = new Store<ReadonlyMap<string, Activity | 'idle'>>(new Map())

/** Notes what a session does that this page follows; `undefined`: it follows it no longer. */
export function noteActivity(id: string, activity: Activity | 'idle' | undefined): void {
  const before = followed.get()
  if (before.get(id) === activity) return
  const after = new Map(before)
  if (activity === undefined) after.delete(id)
  else after.set(id, activity)
  followed.set(after)
}

/** What sessions do now. The host knows it of those that this page does not follow, a little later. */
export function useActivity(): (session: Session) => Activity | undefined {
  const known = useStore(followed)
  return ({ id, activity }) => {
    const own = known.get(id) ?? activity
    return own === 'idle' ? undefined : own
  }
}
