import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, statfs } from 'node:fs/promises'

import { checkFileSystem } from './file-system-type.ts'
import type { Place } from './place.ts'

/** Of Linux, on all processors that Node runs on: a descriptor that names an entry without opening what it stands for. */
const O_PATH = 0x20_0000

/**
 * A place that is its descriptor, on Linux: a folder that is moved, or replaced by a link, after the descriptor was got makes
 * no difference. The last name of a path is never followed, and the paths before it are descriptors.
 */
export class DescriptorPlace implements Place {
  readonly stats: BigIntStats
  readonly #handle: FileHandle

  private constructor(handle: FileHandle, stats: BigIntStats) {
    this.#handle = handle
    this.stats = stats
  }

  /** The folder of a root. Its path comes from the configuration, so links in it are followed. */
  static openRoot(path: string): Promise<DescriptorPlace> {
    return DescriptorPlace.#open(path, O_PATH | constants.O_DIRECTORY, undefined)
  }

  static async #open(path: string, flags: number, device?: bigint): Promise<DescriptorPlace> {
    const handle = await open(path, flags)
    try {
      const stats = await handle.stat({ bigint: true })
      if (stats.dev !== device) {
        checkFileSystem((await statfs(`/proc/self/fd/${handle.fd}`)).type)
      }
      return new DescriptorPlace(handle, stats)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get ownPath(): string {
    return `/proc/self/fd/${this.#handle.fd}`
  }

  entryPath(name: string): string {
    return `${this.ownPath}/${name}`
  }

  open(flags: number): Promise<FileHandle> {
    return open(this.ownPath, flags | constants.O_NONBLOCK)
  }

  child(name: string): Promise<DescriptorPlace> {
    return DescriptorPlace.#open(
      this.entryPath(name),
      O_PATH | constants.O_NOFOLLOW,
      this.stats.dev,
    )
  }

  async verify(): Promise<void> {
    // A descriptor stays what it is.
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close()
  }
}
