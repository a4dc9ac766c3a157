import { Store } from './store.ts'

/** `waiting`: a question of it waits for the user. */
export type Activity = 'running' | 'waiting'

/** What the sessions do that this page follows, by their ids. */
export const runningSessions = new Store<ReadonlyMap<string, Activity>>(new Map())

/** `activity`: `undefined` once nothing of the session is unanswered. */
export function markRunning(id: string, activity: Activity | undefined): void {
  const before = runningSessions.get()
  if (before.get(id) === activity) return
  const after = new Map(before)
  if (activity === undefined) after.delete(id)
  else after.set(id, activity)
  runningSessions.set(after)
}
