import type { CancelSignal } from './cancellation.ts'

/** Resolves when the signal aborts. */
export function aborted(signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', resolve)
  })
}
