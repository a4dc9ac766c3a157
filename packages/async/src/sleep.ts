import type { CancelSignal } from './cancellation.ts'

/**
 * Resolves after `ms`; rejects with the signal's reason when it aborts. Unlike `node:timers/promises` it uses the
 * timers that tests replace.
 */
export async function sleep(ms: number, signal?: CancelSignal): Promise<void> {
  signal?.throwIfAborted()
  await pause(ms, signal)
  signal?.throwIfAborted()
}

/** Resolves after `ms`, or when the signal aborts; never rejects. */
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
