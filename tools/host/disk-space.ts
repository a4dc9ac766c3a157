import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

const MEGABYTE = 1024 * 1024
/** The minimum of free space with which nats-server can start. */
export const LEAST_FREE_BYTES = 4 * MEGABYTE

/** The free bytes of the file system where a folder is, or will be created. */
export async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    if (!isMissing || dirname(folder) === folder) throw error
    return freeBytes(dirname(folder))
  }
}

/** A size in bytes as text for messages, in megabytes. */
export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / MEGABYTE)} MB`
}
