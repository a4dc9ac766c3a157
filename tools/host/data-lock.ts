import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Two hosts on the same data would destroy it: only one may hold the folder. */
export async function lockDataDir(dataDir: string): Promise<AsyncDisposable> {
  await mkdir(dataDir, { recursive: true })
  const file = join(dataDir, 'lock')
  for (;;) {
    try {
      const lock = await open(file, 'wx')
      await lock.writeFile(String(process.pid))
      await lock.close()
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const owner = Number(await readFile(file, 'utf8').catch(() => ''))
    if (owner > 0 && isAlive(owner)) throw new DataDirInUse(dataDir, owner)
    // Its owner died without letting go.
    await rm(file, { force: true })
  }
}

/** Another host holds the data folder. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'
  readonly pid: number

  constructor(dataDir: string, pid: number) {
    super(`${dataDir} is in use by process ${pid}`)
    this.pid = pid
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // There, but somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
