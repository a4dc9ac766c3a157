import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'

import type { Environment } from './environment.ts'

export interface LaunchOptions {
  readonly env: Environment
  readonly stdio: StdioOptions
  /** `true`: the process leads its own session and process group. */
  readonly detached: boolean
  readonly cwd?: string
}

/** The error for a program that cannot be started. The message names the command as it was written. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError'
}

/**
 * Starts a process without a shell. No other code starts processes. Throws `LaunchError` for invalid arguments, such as
 * a list that is too long.
 */
export function launch(
  file: string,
  args: readonly string[],
  { env, stdio, detached, cwd }: LaunchOptions,
): ChildProcess {
  try {
    return spawn(file, args, { env, stdio, detached, cwd, shell: false, windowsHide: true })
  } catch (cause) {
    throw new LaunchError(`"${file}" could not be started`, { cause })
  }
}

/** The pid, once the operating system has started the process. Throws `LaunchError` when it cannot. */
export async function launched(child: ChildProcess, command: string): Promise<number> {
  if (child.pid !== undefined) return child.pid
  const cause = await new Promise<unknown>((resolve) => child.once('error', resolve))
  throw new LaunchError(`"${command}" could not be started`, { cause })
}
