import { execFile } from 'node:child_process'
import { appendFile, mkdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system of a few megabytes in memory that a test can fill. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** Fills it to the last byte. */
  fill(): Promise<void>
  /** Frees the space that `fill` took. */
  free(): Promise<void>
}

/** Whether this process may mount a file system, which needs root and a container that allows it. */
export async function canMount(): Promise<boolean> {
  try {
    await using _disk = await smallDisk(1)
    return true
  } catch {
    // Tests that need a mount are skipped, whatever the reason.
    return false
  }
}

/** Mounts a small disk; throws where mounts are not allowed. */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const path = join(tmpdir(), `mcp-host-disk-${crypto.randomUUID()}`)
  await mkdir(path)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  } catch (error) {
    await rmdir(path)
    throw error
  }
  const filler = join(path, 'filler')
  return {
    path,
    async fill() {
      // Pieces of decreasing size, until not even a byte has room.
      for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) {
        const piece = Buffer.alloc(bytes, 1)
        try {
          for (;;) await appendFile(filler, piece)
        } catch (error) {
          const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
          if (!isFull) throw error
        }
      }
    },
    free: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      // A lazy unmount, because a process that is ending may still have a file open.
      await run('umount', ['--lazy', path])
      await rmdir(path)
    },
  }
}
