import type { Session } from '@mcp-host/client'
import { Store, useStore } from './store.ts'

export type Activity = NonNullable<Session['activity']>

/** Activity of the sessions that are open in this page, by id. `idle`: every message is answered. */
const open = new Store<ReadonlyMap<string, Activity | 'idle'>>(new Map())

/** Records the activity of an open session; `undefined` removes it. */
export function noteActivity(id: string, activity: Activity | 'idle' | undefined): void {
  const before = open.get()
  if (before.get(id) === activity) return
  const after = new Map(before)
  if (activity === undefined) after.delete(id)
  else after.set(id, activity)
  open.set(after)
}

/** Returns the activity of a session: live if it is open in this page, else from its record, which lags. */
export function useActivity(): (session: Session) => Activity | undefined {
  const live = useStore(open)
  return ({ id, activity }) => {
    const known = live.get(id) ?? activity
    return known === 'idle' ? undefined : known
  }
}
