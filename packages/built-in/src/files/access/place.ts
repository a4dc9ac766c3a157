import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/**
 * An entry below a root that was reached without following a link. It holds descriptors until it is disposed. Its paths are
 * for this process only, and must not appear in answers.
 */
export interface Place extends AsyncDisposable {
  readonly stats: BigIntStats
  /** The path for Node of an entry of this folder. The name must have passed `parsePath`, or come from the folder. */
  entryPath(name: string): string
  /** The path for Node of this entry itself. */
  readonly ownPath: string
  /** Opens this file for reading or appending. */
  open(flags: number): Promise<FileHandle>
  /** The place of an entry of this folder. Links are places, too, from which no way leads on. */
  child(name: string): Promise<Place>
  /** Throws when the way to this place is another than when it was gone. */
  verify(): Promise<void>
}
