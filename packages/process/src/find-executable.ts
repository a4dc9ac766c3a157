import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { posix, win32 } from 'node:path'

import type { Environment } from './environment.ts'
import { LaunchError } from './launch.ts'

export interface FindOptions {
  readonly cwd: string
  readonly env: Environment
  /** Default: the present platform. */
  readonly platform?: NodeJS.Platform
  /** The kind of the file at an absolute path; default: by the file system. */
  readonly look?: (file: string) => Promise<'none' | 'file' | 'executable'>
}

/**
 * The absolute path of the program that `command` names, in `cwd` with `env`. The search comes before the start, since
 * a shell that fails to `exec` reports only the exit code 127. Throws `LaunchError`.
 */
export async function findExecutable(
  command: string,
  { cwd, env, platform = process.platform, look = lookAt }: FindOptions,
): Promise<string> {
  const isWindows = platform === 'win32'
  const paths = isWindows ? win32 : posix
  const isPath = command.includes('/') || (isWindows && command.includes('\\'))
  const path = isWindows ? onWindows(env, 'PATH') : env['PATH']
  // An empty or relative folder would mean `cwd`, which may contain untrusted files.
  const folders = isPath
    ? ['']
    : (path ?? '').split(paths.delimiter).filter((folder) => paths.isAbsolute(folder))
  const endings = isWindows ? windowsEndings(command, env) : ['']
  let isPresent = false
  for (const folder of folders) {
    for (const ending of endings) {
      const file = paths.resolve(cwd, paths.join(folder, command + ending))
      const found = await look(file)
      if (found === 'executable') return isWindows ? checkKind(command, file) : file
      isPresent ||= found === 'file'
    }
  }
  if (isPresent) throw new LaunchError(`the command "${command}" is not executable`)
  const where = isPath ? 'does not exist' : 'was not found on PATH: install it, or give its path'
  throw new LaunchError(`the command "${command}" ${where}`)
}

/**
 * The possible extensions. On Windows a file without an extension is no program: the `npx` beside `npx.cmd` is for
 * other shells.
 */
function windowsEndings(command: string, env: Environment): readonly string[] {
  const added = (onWindows(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean)
  return win32.extname(command) === '' ? added : ['', ...added]
}

/** Refuses batch files, which run only in a shell that would interpret the arguments. */
function checkKind(command: string, file: string): string {
  if (!/\.(cmd|bat)$/i.test(file)) return file
  throw new LaunchError(
    `the command "${command}" is a batch file, which Windows cannot start as a program: ` +
      `write "command": "cmd", "args": ["/c", ${JSON.stringify(command)}, …]`,
  )
}

/** The value of a variable on Windows, where names are case-insensitive, such as `Path`. */
function onWindows(env: Environment, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]
}

async function lookAt(file: string): Promise<'none' | 'file' | 'executable'> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() !== true) return 'none'
  return access(file, constants.X_OK).then(
    () => 'executable',
    () => 'file',
  )
}
