/** Waits, until the signal at most. Unlike that of `node:timers/promises` it follows the timers of a test. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onAbort = (): void => reject(signal.reason as Error)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(resolve, ms)
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  })
}
