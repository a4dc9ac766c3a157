import type { CancelSignal } from '../cancellation.ts'

/** Resolves after `ms`, or at once when the signal aborts; never throws. */
export function pause(ms: number, signal?: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
