import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

export interface ProtectedPaths {
  /** Absolute paths of files and folders that no server sees. */
  readonly hidden: readonly string[]
  /** Absolute paths of files and folders that no server changes. */
  readonly readOnly: readonly string[]
  /** Folders within those that servers change nevertheless. */
  readonly writable: readonly string[]
}

/** The paths that are mounted for a sandbox. All exist, and none has a link in it. Outer ones come first. */
export interface Mounts {
  /** Mounted as they are: the folder of a mount could be renamed, and another one put in its place. */
  readonly fixed: readonly string[]
  readonly readOnly: readonly string[]
  readonly writable: readonly string[]
  readonly hiddenFolders: readonly string[]
  readonly hiddenFiles: readonly string[]
}

/**
 * What protects the paths within a sandbox. A link could be replaced, and a missing file be made, so the folder of either
 * is read-only.
 */
export function mountsFor({ hidden, readOnly, writable }: ProtectedPaths): Mounts {
  const closed = new Set<string>()
  const realPaths = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => {
      const real = join(realpathOf(dirname(path)), basename(path))
      if (!existsSync(path)) {
        closed.add(nearestFolder(real))
        return []
      }
      if (lstatSync(real).isSymbolicLink()) closed.add(dirname(real))
      return [realpathSync(path)]
    })
  const masked = realPaths(hidden)
  const kept = realPaths(readOnly)
  const readOnlyPaths = [...kept, ...closed]
  const isFolder = (path: string): boolean => statSync(path).isDirectory()
  return {
    fixed: sorted([...masked, ...readOnlyPaths].flatMap(foldersAbove)),
    readOnly: sorted(readOnlyPaths),
    writable: sorted(writable.filter((path) => existsSync(path)).map((path) => realpathSync(path))),
    hiddenFolders: sorted(masked.filter(isFolder)),
    hiddenFiles: sorted(masked.filter((path) => !isFolder(path))),
  }
}

/** With what is missing of it, if its beginning exists. */
function realpathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathOf(dirname(path)), basename(path))
}

function nearestFolder(path: string): string {
  return existsSync(path) && statSync(path).isDirectory() ? path : nearestFolder(dirname(path))
}

/** Without the root, which cannot be renamed. */
function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === dirname(parent) ? [] : [...foldersAbove(parent), parent]
}

/** Each once. A folder precedes what is in it. */
function sorted(paths: readonly string[]): string[] {
  return [...new Set(paths)].toSorted(
    (one, other) => one.split(sep).length - other.split(sep).length || one.localeCompare(other),
  )
}
