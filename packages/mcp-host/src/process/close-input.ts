import type { GuardedProcess } from './spawn-guarded.ts'
import { exitsWithin } from './exits-within.ts'

/** Asks: ends the program's input, which is how MCP says goodbye. `true` when it ended in time. */
export async function closeInput(process: GuardedProcess, limitMs: number): Promise<boolean> {
  if (process.stdin === null) return false
  process.stdin.end()
  return exitsWithin(process, limitMs)
}
