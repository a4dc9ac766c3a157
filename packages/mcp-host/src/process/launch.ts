import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'

import type { Environment } from '../environment.ts'

export interface LaunchOptions {
  readonly env: Environment
  readonly stdio: StdioOptions
  /** `true`: leader of a session and a process group of its own. */
  readonly detached: boolean
  readonly cwd?: string
}

/** A program cannot be started as asked; the message names the command as it was written. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError'
}

/**
 * The one place where processes start, without a shell. Throws `LaunchError` for what cannot be tried, such as too long
 * a list of arguments.
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

/** Resolves once the operating system has started it. Throws `LaunchError` when it cannot. */
export async function launched(child: ChildProcess, command: string): Promise<number> {
  if (child.pid !== undefined) return child.pid
  const cause = await new Promise<unknown>((resolve) => child.once('error', resolve))
  throw new LaunchError(`"${command}" could not be started`, { cause })
}
