import { resolvesWithin } from '@mcp-host/async'
import type { GuardedProcess, ProcessExit } from './spawn-guarded.ts'

export interface StopOptions {
  /** The time limit for an orderly end, in milliseconds; then the program is killed. */
  readonly graceMs: number
}

/** The share of the grace between the end of the input and SIGTERM. */
const INPUT_SHARE = 0.2
const KILL_LIMIT_MS = 2000

/**
 * Stops a program with its descendants: ends its input, by which MCP asks a server to stop, then sends SIGTERM and
 * SIGKILL to its group. Resolves when all processes are gone. Throws when they outlive SIGKILL by two seconds.
 */
export async function stopProcess(
  process: GuardedProcess,
  { graceMs }: StopOptions,
): Promise<ProcessExit> {
  const endsWithin = (limitMs: number): Promise<boolean> => resolvesWithin(process.exited, limitMs)
  process.beginStop()
  const inputMs = process.stdin === null ? 0 : graceMs * INPUT_SHARE
  process.stdin?.end()
  if (process.stdin !== null && (await endsWithin(inputMs))) return process.gone
  process.signal('SIGTERM')
  if (await endsWithin(graceMs - inputMs)) return process.gone
  process.signal('SIGKILL')
  // Only a process that is stuck in the kernel outlives it.
  if (await endsWithin(KILL_LIMIT_MS)) return process.gone
  throw new Error(`process ${process.pid} did not end after SIGKILL`)
}
