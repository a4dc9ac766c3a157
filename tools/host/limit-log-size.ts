import { copyFile, rename, rm, stat, truncate } from 'node:fs/promises'

/** The size at which a log is rotated, and the number of older logs that are kept. */
const MAX_BYTES = 20 * 1024 * 1024
const KEPT = 3
const PERIOD_MS = 2_000

/**
 * Limits the size of a running process's log, which the process must open for appending. Rotation copies the log to
 * `….1`, that to `….2` and so on, and then empties the log. Lines that are written within these milliseconds may be
 * lost.
 */
export function limitLogSize(path: string): Disposable {
  let isBusy = false
  const look = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    await rotateLog(path, MAX_BYTES)
    isBusy = false
  }
  const timer = setInterval(() => void look(), PERIOD_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Rotates a log that has reached a size. Never throws, since the next period tries again. */
export async function rotateLog(path: string, maxBytes: number): Promise<void> {
  try {
    const { size } = await stat(path)
    if (size < maxBytes) return
    for (let kept = KEPT - 1; kept > 0; kept -= 1) {
      // There may be fewer older logs.
      await rename(`${path}.${kept}`, `${path}.${kept + 1}`).catch(() => undefined)
    }
    await copyFile(path, `${path}.1`).catch(async () => {
      // On a full disk, a lost log is better than one that keeps the disk full.
      await rm(`${path}.1`, { force: true })
    })
    await truncate(path)
  } catch {
    // The folder may be gone or the disk faulty. Both are reported elsewhere.
  }
}
