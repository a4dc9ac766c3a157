import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

import type { Environment } from '../environment.ts'
import { LaunchError } from './launch.ts'

export interface FindOptions {
  readonly cwd: string
  readonly env: Environment
}

/**
 * The absolute path of the program that `command` means in `cwd` with `env`, found before the
 * start because a shell that fails to `exec` only says 127. Throws `LaunchError`.
 */
export async function findExecutable(command: string, { cwd, env }: FindOptions): Promise<string> {
  const isPath = command.includes('/') || (process.platform === 'win32' && command.includes('\\'))
  const folders = isPath ? [''] : (env['PATH'] ?? env['Path'] ?? '').split(delimiter)
  const endings =
    process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE').split(';')] : ['']
  let isPresent = false
  for (const folder of folders) {
    for (const ending of endings) {
      const file = resolve(cwd, join(folder, command + ending))
      const found = await look(file)
      if (found === 'executable') return file
      isPresent ||= found === 'file'
    }
  }
  if (isPresent) throw new LaunchError(`the command "${command}" is not executable`)
  const where = isPath ? 'does not exist' : 'was not found on PATH'
  throw new LaunchError(`the command "${command}" ${where}`)
}

async function look(file: string): Promise<'none' | 'file' | 'executable'> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() !== true) return 'none'
  return access(file, constants.X_OK).then(
    () => 'executable',
    () => 'file',
  )
}
