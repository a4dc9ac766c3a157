import type { ChildProcess } from 'node:child_process'
import { stat } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'

import type { Environment } from './environment.ts'
import { findExecutable } from './find-executable.ts'
import { REGISTER_SCRIPT } from './guardian-script.ts'
import type { Guardian } from './guardian.ts'
import { launch, launched, LaunchError } from './launch.ts'
import { killRest, signalGroup } from './process-group.ts'
import { TAG_NAME } from './process-table.ts'
import type { ResourceWatch } from './resource-watch.ts'

/** The target of a standard stream. A number is an open descriptor of the host. */
export type Stdio = 'pipe' | 'ignore' | 'inherit' | number

export interface SpawnOptions {
  /** A path (relative to `cwd`) or a name to look up on the `PATH` in `env`. */
  readonly command: string
  readonly args?: readonly string[]
  /** The command line of a sandbox, before that of the program. */
  readonly prefix?: readonly string[] | undefined
  /** The tag of processes of a sandbox whose environment the host cannot read. Default: a new one. */
  readonly tag?: string | undefined
  readonly cwd: string
  /** The whole environment of the program. Nothing is inherited. */
  readonly env: Environment
  /** Default `pipe`. */
  readonly stdin?: Stdio
  /** Default `pipe`. */
  readonly stdout?: Stdio
  /** Default `pipe`. */
  readonly stderr?: Stdio
}

/** The end of a program: an exit code or a signal. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program in its own process group, which does not outlive the host. */
export interface GuardedProcess {
  /** The pid of the program, and of its process group. */
  readonly pid: number
  /** Its tag, which all processes that it starts inherit; see `readTag`. */
  readonly tag: string
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** Resolves when the program has ended; its descendants are being killed. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /**
   * Resolves when its process group is empty and, on Linux, processes that left the group are gone, except those that
   * cleared their environment. Never rejects.
   */
  readonly gone: Promise<ProcessExit>
  /** Aborted when the stop of the program begins. From then on it must not be paused. */
  readonly stopping: AbortSignal
  /** Shared by all processes of one guardian. */
  readonly resources: ResourceWatch
  /** Signals the whole group; `false` when it is empty. */
  signal(signal: NodeJS.Signals): boolean
  /** Aborts `stopping`; to be called before the process is stopped. */
  beginStop(): void
}

/**
 * Starts a program that cannot outlive the host, even after SIGKILL. Throws `LaunchError` when the command or the
 * folder is missing. On Windows (untested) the program ends with the host only after an orderly stop.
 */
export async function spawnGuarded(
  guardian: Guardian,
  options: SpawnOptions,
): Promise<GuardedProcess> {
  const { command, args = [], prefix = [], cwd, env } = options
  const { stdin = 'pipe', stdout = 'pipe', stderr = 'pipe' } = options
  const folder = await stat(cwd).catch(() => undefined)
  if (folder?.isDirectory() !== true) {
    throw new LaunchError(`the working directory of "${command}" does not exist`)
  }
  const file = await findExecutable(command, { cwd, env })
  const tag = options.tag ?? guardian.nextTag()
  // Last, so that a configured variable cannot replace the tag.
  const tagged = { ...env, [TAG_NAME]: tag }

  if (process.platform === 'win32') {
    const stdio = [stdin, stdout, stderr]
    const child = launch(file, args, { cwd, env: tagged, stdio, detached: false })
    return guard(guardian, child, { pid: await launched(child, command), tag })
  }
  const child = launch('/bin/sh', ['-c', REGISTER_SCRIPT, command, ...prefix, file, ...args], {
    cwd,
    env: tagged,
    stdio: [stdin, stdout, stderr, await guardian.input()],
    detached: true,
  })
  return guard(guardian, child, { pid: await launched(child, command), tag })
}

function guard(
  guardian: Guardian,
  child: ChildProcess,
  { pid, tag }: Pick<GuardedProcess, 'pid' | 'tag'>,
): GuardedProcess {
  guardian.add(pid)
  let isGone = false
  const stopping = new AbortController()
  const exited = Promise.withResolvers<ProcessExit>()
  const gone = Promise.withResolvers<ProcessExit>()
  const finish = async (exit: ProcessExit): Promise<void> => {
    // In the same turn of the event loop as the exit, so that the number of the group is not reused yet.
    await killRest(pid)
    isGone = true
    await guardian.sweep(tag)
    guardian.remove(pid)
    gone.resolve(exit)
  }
  child.once('exit', (code, signal) => {
    const exit = { code, signal }
    exited.resolve(exit)
    void finish(exit)
  })
  return {
    pid,
    tag,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: exited.promise,
    gone: gone.promise,
    stopping: stopping.signal,
    resources: guardian.resources,
    signal: (signal) => !isGone && signalGroup(pid, signal),
    beginStop: () => stopping.abort(),
  }
}
