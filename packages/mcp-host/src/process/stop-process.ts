import type { GuardedProcess, ProcessExit } from './spawn-guarded.ts'
import { closeInput } from './close-input.ts'
import { kill } from './kill.ts'
import { terminate } from './terminate.ts'

export interface StopOptions {
  /** The time limit for an orderly end, in milliseconds; then it is killed. */
  readonly graceMs: number
}

/** The part of the grace that the end of the input has to itself, before SIGTERM is sent. */
const INPUT_SHARE = 0.2
const KILL_LIMIT_MS = 2000

/**
 * Stops a program with all it started: ask, tell, force. Resolves when all of it is gone.
 * Throws when even SIGKILL did not end it within two seconds.
 */
export async function stopProcess(
  process: GuardedProcess,
  { graceMs }: StopOptions,
): Promise<ProcessExit> {
  process.beginStop()
  const inputMs = process.stdin === null ? 0 : graceMs * INPUT_SHARE
  const isStopped =
    (await closeInput(process, inputMs)) ||
    (await terminate(process, graceMs - inputMs)) ||
    (await kill(process, KILL_LIMIT_MS))
  if (!isStopped) throw new Error(`process ${process.pid} did not end after SIGKILL`)
  return process.gone
}
