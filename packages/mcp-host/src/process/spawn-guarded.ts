import type { ChildProcess } from 'node:child_process'
import { stat } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'

import type { Environment } from '../environment.ts'
import { findExecutable } from './find-executable.ts'
import { REGISTER_SCRIPT } from './guardian-script.ts'
import type { Guardian } from './guardian.ts'
import { launch, launched, LaunchError } from './launch.ts'
import { killRest, signalGroup } from './process-group.ts'

/** Where one of the three standard streams goes; a number is an open descriptor of ours. */
export type Stdio = 'pipe' | 'ignore' | 'inherit' | number

export interface SpawnOptions {
  /** A path (relative to `cwd`) or a name to look up on the `PATH` in `env`. */
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd: string
  /** The whole environment of the program: nothing is inherited. */
  readonly env: Environment
  /** Default `pipe`. */
  readonly stdin?: Stdio
  /** Default `pipe`. */
  readonly stdout?: Stdio
  /** Default `pipe`. */
  readonly stderr?: Stdio
}

/** How a program ended: by itself with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program in a process group of its own, which ends at the latest when we do. */
export interface GuardedProcess {
  /** Of the program, and of its process group. */
  readonly pid: number
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** The program itself has ended; what it left running is being killed. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Nothing of its process group is left. Never rejects. */
  readonly gone: Promise<ProcessExit>
  /** Signals the whole group; `false` when nobody is left to hear it. */
  signal(signal: NodeJS.Signals): boolean
}

/**
 * Starts a program that cannot outlive us, not even when we are killed with SIGKILL.
 * Throws `LaunchError` when the command or the folder is not there.
 *
 * On Windows (untested) it dies with us only when we stop it ourselves.
 */
export async function spawnGuarded(
  guardian: Guardian,
  options: SpawnOptions,
): Promise<GuardedProcess> {
  const { command, args = [], cwd, env } = options
  const { stdin = 'pipe', stdout = 'pipe', stderr = 'pipe' } = options
  const folder = await stat(cwd).catch(() => undefined)
  if (folder?.isDirectory() !== true) {
    throw new LaunchError(`the working directory of "${command}" does not exist`)
  }
  const file = await findExecutable(command, { cwd, env })

  if (process.platform === 'win32') {
    const child = launch(file, args, { cwd, env, stdio: [stdin, stdout, stderr], detached: false })
    return guard(guardian, child, await launched(child, command))
  }
  const child = launch('/bin/sh', ['-c', REGISTER_SCRIPT, command, file, ...args], {
    cwd,
    env,
    stdio: [stdin, stdout, stderr, await guardian.input()],
    detached: true,
  })
  return guard(guardian, child, await launched(child, command))
}

function guard(guardian: Guardian, child: ChildProcess, pid: number): GuardedProcess {
  guardian.add(pid)
  let isGone = false
  const exited = Promise.withResolvers<ProcessExit>()
  const gone = Promise.withResolvers<ProcessExit>()
  child.once('exit', (code, signal) => {
    const exit = { code, signal }
    exited.resolve(exit)
    // In the same turn as the reaping: the group's number cannot be another's yet.
    void killRest(pid).then(() => {
      isGone = true
      guardian.remove(pid)
      gone.resolve(exit)
    })
  })
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: exited.promise,
    gone: gone.promise,
    signal: (signal) => !isGone && signalGroup(pid, signal),
  }
}
