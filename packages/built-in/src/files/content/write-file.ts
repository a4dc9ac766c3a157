import { type BigIntStats, constants } from 'node:fs'
import { link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'

import { codeOf, FileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import type { RootedPath } from '../access/parse-path.ts'
import type { Place } from '../access/place.ts'
import { checkRegular } from './read-bytes.ts'

export type WriteMode = 'create' | 'overwrite' | 'append'

export interface WriteOptions {
  readonly mode: WriteMode
  readonly createFolders: boolean
  readonly signal: AbortSignal
}

interface Target {
  readonly folder: Place
  readonly name: string
  readonly given: string
}

// Windows has no O_NOFOLLOW, which adds nothing.
const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants
/** The bits of a mode that a changed file keeps. It does not keep the right to run as its owner. */
const PERMISSIONS = 0o777
const NEW_FILE = 0o666

/**
 * Writes a file and returns whether it is new. A file that is created or overwritten has either its old content or all of the
 * new. Bytes are appended in place.
 */
export async function writeFile(
  tree: FileTree,
  path: RootedPath,
  content: Uint8Array,
  options: WriteOptions,
  stack: AsyncDisposableStack,
): Promise<boolean> {
  const target = await openTarget(tree, path, options.createFolders, stack)
  const existing = await findExisting(target)
  options.signal.throwIfAborted()
  if (existing !== undefined && options.mode === 'create') {
    throw new FileError(path.given, 'exists already; use the mode "overwrite" or "append"')
  }
  if (options.mode === 'append') {
    await appendTo(tree, target, existing, content, stack)
  } else {
    await replace(target, existing, content, options)
  }
  return existing === undefined
}

async function openTarget(
  tree: FileTree,
  { root, parts, given }: RootedPath,
  createFolders: boolean,
  stack: AsyncDisposableStack,
): Promise<Target> {
  const name = parts.at(-1)
  if (root.readOnly === true) throw new FileError(given, `the root "${root.name}" is read-only`)
  if (name === undefined) throw new FileError(given, 'is a root; add the name of a file')
  let folder = await tree.open({ root, parts: [], given }, stack)
  for (const part of parts.slice(0, -1)) {
    if (createFolders && folder.stats.isDirectory()) await makeFolder(folder, part)
    folder = await tree.enter(folder, part, given, stack).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
      throw new FileError(given, 'its folder does not exist; set createFolders to make it')
    })
  }
  tree.checkFolder(folder, given)
  return { folder, name, given }
}

async function makeFolder(folder: Place, name: string): Promise<void> {
  try {
    await mkdir(folder.entryPath(name))
  } catch (error) {
    // Whatever exists is looked at by the next step.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

async function findExisting({ folder, name, given }: Target): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(folder.entryPath(name), { bigint: true })
    if (stats.isSymbolicLink()) {
      throw new FileError(given, 'is a symbolic link, and links are not followed; use another name')
    }
    checkRegular(stats, given)
    return stats
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function replace(
  { folder, name, given }: Target,
  existing: BigIntStats | undefined,
  content: Uint8Array,
  { mode, signal }: WriteOptions,
): Promise<void> {
  const temporary = folder.entryPath(`.mcp-host-${crypto.randomUUID()}.tmp`)
  const final = folder.entryPath(name)
  await using stack = new AsyncDisposableStack()
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, NEW_FILE)
  stack.defer(() => removeQuietly(temporary))
  stack.use(file)
  await file.writeFile(content, { signal })
  if (existing !== undefined) await file.chmod(Number(existing.mode) & PERMISSIONS)
  await file.sync()
  await folder.verify()
  signal.throwIfAborted()
  // Both replace or refuse what has the name by then, also a link.
  if (mode === 'overwrite') await rename(temporary, final)
  else await linkAs(temporary, final, given)
}

/** Gives the file its name unless the name is taken. */
async function linkAs(temporary: string, final: string, given: string): Promise<void> {
  try {
    await link(temporary, final)
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error
    // The file system has no hard links: a file that is created at this moment is lost.
    const isTaken = await lstat(final).then(
      () => true,
      () => false,
    )
    if (isTaken) throw new FileError(given, 'exists already; use the mode "overwrite"')
    await rename(temporary, final)
  }
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {
    // After a rename it is gone.
  })
}

async function appendTo(
  tree: FileTree,
  { folder, name, given }: Target,
  existing: BigIntStats | undefined,
  content: Uint8Array,
  stack: AsyncDisposableStack,
): Promise<void> {
  const path = folder.entryPath(name)
  if (existing === undefined) {
    await folder.verify()
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW
    await using file = await open(path, flags, NEW_FILE)
    await file.writeFile(content)
    return
  }
  const place = await tree.enter(folder, name, given, stack)
  checkRegular(place.stats, given)
  if (place.stats.nlink > 1n) {
    const remedy = 'use the mode "overwrite", which separates it'
    throw new FileError(given, `has several names, which may lie outside its root; ${remedy}`)
  }
  await using file = await place.open(O_WRONLY | O_APPEND)
  await file.writeFile(content)
}
