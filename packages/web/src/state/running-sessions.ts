import { Store } from './store.ts'

/** Ids of sessions that this page sees answering. */
export const runningSessions = new Store<ReadonlySet<string>>(new Set())

export function markRunning(id: string, isRunning: boolean): void {
  const before = runningSessions.get()
  if (before.has(id) === isRunning) return
  const others = Array.from(before).filter((each) => each !== id)
  runningSessions.set(new Set(isRunning ? [...others, id] : others))
}
