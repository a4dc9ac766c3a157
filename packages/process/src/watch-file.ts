import { readFileSync, watch } from 'node:fs'
import { dirname } from 'node:path'

/** The time without changes before a read, since editors write or replace a file in several steps. */
const QUIET_MS = 200
/** The longest delay of a read, since other files of the folder may change all the time. */
const LONGEST_WAIT_MS = 1_000

/**
 * Calls the listener when a file's content has changed, or the file is gone. Watches the folder of the file, since editors and Kubernetes
 * replace the file. Calls `onFailure` when the folder cannot be watched.
 */
export function watchFile(
  path: string,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): Disposable {
  const read = (): string | undefined => {
    try {
      // All bytes count, whatever the encoding.
      return readFileSync(path, 'latin1')
    } catch {
      // There is no file.
      return undefined
    }
  }
  let content = read()
  let timer: NodeJS.Timeout | undefined
  let waitsSince: number | undefined
  const look = (): void => {
    waitsSince = undefined
    const now = read()
    if (now === content) return
    content = now
    onChange()
  }
  try {
    const watcher = watch(dirname(path), () => {
      waitsSince ??= performance.now()
      if (performance.now() - waitsSince > LONGEST_WAIT_MS - QUIET_MS) return
      clearTimeout(timer)
      timer = setTimeout(look, QUIET_MS)
    })
    watcher.on('error', onFailure)
    return {
      [Symbol.dispose]() {
        clearTimeout(timer)
        watcher.close()
      },
    }
  } catch (error) {
    onFailure(error)
    return { [Symbol.dispose]: () => undefined }
  }
}
