import { readFileSync, watch } from 'node:fs'
import { dirname } from 'node:path'

/** An editor writes in several steps. */
const QUIET_MS = 200

/**
 * Calls when a file's content has changed. Watches its folder, since editors and Kubernetes put a new file
 * in its place; `onFailure` is told when that cannot be watched.
 */
export function watchFile(
  path: string,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): Disposable {
  const read = (): string | undefined => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // Just being replaced.
      return undefined
    }
  }
  let content = read()
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    const now = read()
    if (now === undefined || now === content) return
    content = now
    onChange()
  }
  try {
    const watcher = watch(dirname(path), () => {
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
