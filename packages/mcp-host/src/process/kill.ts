import type { GuardedProcess } from './spawn-guarded.ts'
import { exitsWithin } from './exits-within.ts'

/** Forces: SIGKILL to the whole group. `false` only for a process stuck inside the kernel. */
export async function kill(process: GuardedProcess, limitMs: number): Promise<boolean> {
  process.signal('SIGKILL')
  return exitsWithin(process, limitMs)
}
