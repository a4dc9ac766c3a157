import { Store } from './store.ts'

const TICK_MS = 30_000

/** The time in epoch milliseconds, as precise as times in words need it. */
export const now = new Store(Date.now())

/** Keeps the time. */
export function followClock(): () => void {
  const tick = (): void => now.set(Date.now())
  tick()
  const timer = setInterval(tick, TICK_MS)
  return () => clearInterval(timer)
}
