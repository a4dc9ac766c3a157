/**
 * Waits, or rejects with the signal's reason. Unlike the one of `node:timers/promises` it goes by the timers
 * that tests can turn on.
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  if (signal?.aborted === true) reject(signal.reason)
  const timer = setTimeout(resolve, ms)
  const onAbort = (): void => reject(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  })
}
