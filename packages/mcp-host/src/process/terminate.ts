import type { GuardedProcess } from './spawn-guarded.ts'
import { exitsWithin } from './exits-within.ts'

/** Tells: SIGTERM to the whole group. `true` when the program ended in time. */
export async function terminate(process: GuardedProcess, limitMs: number): Promise<boolean> {
  process.signal('SIGTERM')
  return exitsWithin(process, limitMs)
}
