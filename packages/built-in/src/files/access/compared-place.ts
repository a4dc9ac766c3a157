import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { join } from 'node:path'

import type { Place } from './place.ts'

/** Thrown when an entry was replaced while it was in use. */
export class SwappedError extends Error {
  override readonly name = 'SwappedError'
}

/**
 * A place that is a path, for systems where a path cannot begin with a descriptor. Every opened file is compared with its entry,
 * and the whole way is compared before and after use. A swap that is undone between two comparisons remains
 * possible, so an attacker with the right to replace folders of a root must not be on such a system.
 */
export class ComparedPlace implements Place {
  readonly stats: BigIntStats
  readonly ownPath: string
  readonly #parent: ComparedPlace | undefined

  private constructor(path: string, stats: BigIntStats, parent?: ComparedPlace) {
    this.ownPath = path
    this.stats = stats
    this.#parent = parent
  }

  static async openRoot(path: string): Promise<ComparedPlace> {
    const real = await realpath(path)
    return new ComparedPlace(real, await lstat(real, { bigint: true }))
  }

  entryPath(name: string): string {
    return join(this.ownPath, name)
  }

  async open(flags: number): Promise<FileHandle> {
    // Windows has neither flag, which adds nothing.
    const { O_NOFOLLOW, O_NONBLOCK } = constants
    const handle = await open(this.ownPath, flags | O_NOFOLLOW | O_NONBLOCK)
    try {
      if (!isSame(this.stats, await handle.stat({ bigint: true }))) throw new SwappedError()
      await this.verify()
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async child(name: string): Promise<ComparedPlace> {
    const path = this.entryPath(name)
    const place = new ComparedPlace(path, await lstat(path, { bigint: true }), this)
    await this.verify()
    return place
  }

  async verify(): Promise<void> {
    await this.#parent?.verify()
    if (!isSame(this.stats, await lstat(this.ownPath, { bigint: true }))) throw new SwappedError()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It holds no descriptors.
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.mode >> 12n === other.mode >> 12n
}
