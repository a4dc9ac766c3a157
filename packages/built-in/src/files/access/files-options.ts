import { isAbsolute, relative, resolve, sep } from 'node:path'

export interface FilesRoot {
  /** The first part of every path below this root. */
  readonly name: string
  /** An absolute folder. */
  readonly path: string
  /** Refuses every change below this root. */
  readonly readOnly?: boolean
}

export interface FilesLimits {
  /** Bytes that one read returns. */
  readonly maxReadBytes: number
  /** Bytes that one write takes. */
  readonly maxWriteBytes: number
  /** Folders between a root and a file. Each takes a descriptor while it is in use. */
  readonly maxDepth: number
  /** Requests that use files at the same time; the others wait. */
  readonly maxConcurrent: number
  /** Requests that wait; more are refused. */
  readonly maxWaiting: number
  /** Entries that one search visits. */
  readonly maxSearchEntries: number
  /** Bytes that one search reads. */
  readonly maxSearchBytes: number
  /** Bytes of one file that a search reads. */
  readonly maxSearchFileBytes: number
  readonly searchLimitMs: number
  /** The time limit for a regular expression on one file. */
  readonly matchLimitMs: number
  /** Subscriptions of one connection. */
  readonly maxSubscriptions: number
}

export interface FilesOptions {
  readonly roots: readonly FilesRoot[]
  readonly limits?: Partial<FilesLimits>
}

const MB = 1024 * 1024

export const DEFAULT_LIMITS: FilesLimits = {
  maxReadBytes: MB,
  maxWriteBytes: 8 * MB,
  maxDepth: 40,
  maxConcurrent: 8,
  maxWaiting: 64,
  maxSearchEntries: 20_000,
  maxSearchBytes: 64 * MB,
  maxSearchFileBytes: MB,
  searchLimitMs: 10_000,
  matchLimitMs: 1_000,
  maxSubscriptions: 64,
}

/** The roots with normal paths. Throws when a root cannot be told from another, or could be changed by way of another. */
export function checkRoots(roots: readonly FilesRoot[]): FilesRoot[] {
  if (roots.length === 0) throw new Error('roots: must have at least one folder')
  const checked = roots.map((root) => {
    if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(root.name)) {
      throw new Error(`roots: the name "${root.name}" must be of letters, digits, "." "_" and "-"`)
    }
    if (!isAbsolute(root.path)) throw new Error(`roots.${root.name}.path: must be absolute`)
    return { ...root, path: resolve(root.path) }
  })
  for (const [index, root] of checked.entries()) {
    for (const other of checked.slice(0, index)) {
      if (other.name === root.name) throw new Error(`roots: the name "${root.name}" occurs twice`)
      if (contains(other.path, root.path) || contains(root.path, other.path)) {
        throw new Error(`roots: "${other.name}" and "${root.name}" lie within each other`)
      }
    }
  }
  return checked
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`)
}
