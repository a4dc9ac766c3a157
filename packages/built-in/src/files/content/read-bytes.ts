import { type BigIntStats, constants } from 'node:fs'

import { FileError } from '../access/file-error.ts'
import type { Place } from '../access/place.ts'

/** The bytes that one system call reads, so that a cancelled request stops within a file. */
const CHUNK_BYTES = 256 * 1024

export interface ReadRange {
  readonly offset: number
  readonly length: number
  readonly signal: AbortSignal
}

/** A part of a file; less than the length where the file ends. Refuses everything but regular files before it is opened. */
export async function readBytes(
  place: Place,
  given: string,
  { offset, length, signal }: ReadRange,
): Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly size: number }> {
  checkRegular(place.stats, given)
  await using file = await place.open(constants.O_RDONLY)
  const { size } = await file.stat()
  const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)))
  let filled = 0
  while (filled < bytes.length) {
    signal.throwIfAborted()
    const wanted = Math.min(CHUNK_BYTES, bytes.length - filled)
    const { bytesRead } = await file.read(bytes, filled, wanted, offset + filled)
    // The file has become shorter.
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return { bytes: bytes.subarray(0, filled), size }
}

export function checkRegular(stats: BigIntStats, given: string): void {
  if (stats.isFile()) return
  if (stats.isDirectory()) throw new FileError(given, 'is a folder; use fs_list')
  throw new FileError(given, 'is no regular file but a device, pipe or socket, which is not opened')
}
