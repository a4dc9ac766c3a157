import { SwappedError } from './compared-place.ts'
import { KernelFileSystemError } from './file-system-type.ts'

/** An error for the client. It names the path as the client gave it, and never a path of the machine. */
export class FileError extends Error {
  override readonly name = 'FileError'

  constructor(path: string, problem: string) {
    super(`${quote(path)}: ${problem}`)
  }
}

const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist; fs_list shows the entries of a folder'],
  ['ENOTDIR', 'a part of the path is not a folder; fs_list shows the types of entries'],
  ['EISDIR', 'is a folder; use fs_list'],
  ['EEXIST', 'exists already; use the mode "overwrite" or "append", or another name'],
  ['EACCES', 'the server has no permission; ask the owner of the folder'],
  ['EPERM', 'the server has no permission; ask the owner of the folder'],
  ['EROFS', 'its file system is read-only'],
  ['ELOOP', 'is a symbolic link, and links are not followed; use the path of its target'],
  ['ENAMETOOLONG', 'a name in the path is too long'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EMFILE', 'too many files are open; try again later'],
  ['ENFILE', 'too many files are open; try again later'],
  ['ENXIO', 'is no regular file'],
])

/** The error for the client in place of one of the file system, whose message has paths of the machine. */
export function toFileError(error: unknown, path: string): unknown {
  if (error instanceof SwappedError) {
    return new FileError(path, 'was replaced while it was in use; try again')
  }
  if (error instanceof KernelFileSystemError) {
    return new FileError(path, 'belongs to a file system of the kernel, which is not served')
  }
  const code = codeOf(error)
  if (code === undefined) return error
  if (code === 'ENOSPC' && Object(error).syscall === 'watch') {
    return new FileError(path, 'too many files are watched; end other subscriptions')
  }
  return new FileError(path, PROBLEMS.get(code) ?? `the file system refuses it (${code})`)
}

/** The code of an error of the file system. */
export function codeOf(error: unknown): string | undefined {
  const isSystemError = error instanceof Error && 'code' in error && 'syscall' in error
  return isSystemError && typeof error.code === 'string' ? error.code : undefined
}

const MAX_SHOWN = 200

/** A path in quotes, short and without control characters. */
function quote(path: string): string {
  const isLong = path.length > MAX_SHOWN
  return JSON.stringify(isLong ? `${path.slice(0, MAX_SHOWN).toWellFormed()}…` : path)
}
