import type { BigIntStats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'

import { FileError, toFileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import type { Place } from '../access/place.ts'

export type EntryType = 'file' | 'folder' | 'link' | 'other'

export interface Entry {
  /** The names from the folder where the walk began. */
  readonly parts: readonly string[]
  readonly name: string
  readonly folder: Place
  readonly type: EntryType
  readonly stats: BigIntStats
}

export interface WalkOptions {
  /** Levels of entries; 1 for the entries of the folder alone. */
  readonly depth: number
  /** The names of the last entry that was visited, which need not exist any more. */
  readonly after: readonly string[]
  /** At most this many entries are of interest. It bounds the memory for folders of any size. */
  readonly limit: number
  readonly given: string
  readonly signal: AbortSignal
  /** Called for a folder that cannot be entered. */
  readonly onUnreadable: (parts: readonly string[]) => void
}

const READ_AT_ONCE = 512

/**
 * The entries below a folder, a folder before its entries, by the code units of their names. The order does not
 * depend on the file system, so a walk continues after any entry. Links are entries, and are not followed.
 */
export async function* walkTree(
  tree: FileTree,
  folder: Place,
  options: WalkOptions,
  parts: readonly string[] = [],
): AsyncGenerator<Entry> {
  const { after, depth, given, signal } = options
  // The entry that the walk continues after may be below this folder.
  const isOnWay = parts.every((part, index) => after[index] === part)
  const from = isOnWay ? after[parts.length] : undefined
  for (const name of await namesFrom(folder, from, options)) {
    signal.throwIfAborted()
    const stats = await statsOf(folder, name)
    if (stats === undefined) continue
    const entry = { parts: [...parts, name], name, folder, type: typeOf(stats), stats }
    if (name !== from) yield entry
    if (entry.type !== 'folder' || entry.parts.length >= depth) continue
    await using stack = new AsyncDisposableStack()
    try {
      const child = await tree.enter(folder, name, given, stack)
      if (child.stats.isDirectory()) yield* walkTree(tree, child, options, entry.parts)
    } catch (error) {
      if (signal.aborted || !(toFileError(error, given) instanceof FileError)) throw error
      options.onUnreadable(entry.parts)
    }
  }
}

export function typeOf(stats: BigIntStats): EntryType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

/** The first names that are not before `from`. More than `limit` and the one that was visited are not needed. */
async function namesFrom(
  folder: Place,
  from: string | undefined,
  { limit, signal }: WalkOptions,
): Promise<string[]> {
  const needed = limit + 2
  let names: string[] = []
  const entries = await opendir(folder.ownPath, { bufferSize: READ_AT_ONCE })
  for await (const { name } of entries) {
    signal.throwIfAborted()
    if (from !== undefined && name < from) continue
    names.push(name)
    if (names.length > 2 * needed) names = names.toSorted(byCodeUnits).slice(0, needed)
  }
  await folder.verify()
  return names.toSorted(byCodeUnits).slice(0, needed)
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

async function statsOf(folder: Place, name: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(folder.entryPath(name), { bigint: true })
  } catch {
    // The entry is gone, or its name is no UTF-8 and cannot be given.
    return undefined
  }
}
