import { copyFile, rename, rm, stat, truncate } from 'node:fs/promises'

/** How large a log becomes before it is begun anew; of each as many are kept, beside the one that is written. */
const MAX_BYTES = 20 * 1024 * 1024
const KEPT = 3
const PERIOD_MS = 2_000

/**
 * Keeps the log of a running process small, which must append to it: what is in it is copied to `….1`, that to `….2`
 * and so on, and it begins anew. What is written in between, within milliseconds, may be lost.
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

/** Begins a log anew that has as many bytes. Never throws: it is tried again. */
export async function rotateLog(path: string, maxBytes: number): Promise<void> {
  try {
    const { size } = await stat(path)
    if (size < maxBytes) return
    for (let kept = KEPT - 1; kept > 0; kept -= 1) {
      // There may not be so many yet.
      await rename(`${path}.${kept}`, `${path}.${kept + 1}`).catch(() => undefined)
    }
    await copyFile(path, `${path}.1`).catch(async () => {
      // The disk is full: a lost log is better than one that fills it for good.
      await rm(`${path}.1`, { force: true })
    })
    await truncate(path)
  } catch {
    // The folder may be gone, or the disk may be at fault; both are said elsewhere.
  }
}
