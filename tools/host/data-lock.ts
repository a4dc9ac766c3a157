import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLock } from '../provision/lock.mjs'

/** Locks the data folder, since two hosts on the same data would destroy it. Throws `DataDirInUse`. */
export async function lockDataDir(dataDir: string): Promise<AsyncDisposable> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, 'lock')
  const owner = acquireLock(file)
  if (owner !== undefined) throw new DataDirInUse(dataDir, owner)
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

/** The error for a data folder that another host has locked. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'
  readonly pid: number

  constructor(dataDir: string, pid: number) {
    super(`${dataDir} is in use by process ${pid}`)
    this.pid = pid
  }
}
