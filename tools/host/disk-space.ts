import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

const MEGABYTE = 1024 * 1024
/** With less than this nats-server cannot even start. */
export const LEAST_FREE_BYTES = 4 * MEGABYTE

/** What is free where a folder is, or will be made. */
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

/** Of a size in bytes, for messages. */
export function megabytes(bytes: number): string {
  return `${Math.floor(bytes / MEGABYTE)} MB`
}
