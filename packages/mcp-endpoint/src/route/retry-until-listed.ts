import type { CancelSignal } from '@mcp-host/async'
import type { VirtualServer } from '../listing/virtual-server.ts'
import type { OnRecovered } from '../servers.ts'

/** The time limit for a server that starts or moves to another supervisor. */
const PATIENCE_MS = 5_000

/** Retries after each change of a listing while `isWorthIt` accepts the error. Throws the last error. */
export async function retryUntilListed<T>(
  { onChange }: Pick<VirtualServer, 'onChange'>,
  attempt: () => T | Promise<T>,
  { failure, isWorthIt, signal, onRecovered }: RetryOptions,
): Promise<T> {
  const failedAt = performance.now()
  let last = failure
  let isOver = false
  let news = Promise.withResolvers<void>()
  const end = (): void => {
    isOver = true
    news.resolve()
  }
  const late = setTimeout(end, PATIENCE_MS)
  signal?.addEventListener('abort', end)
  using _changes = onChange(() => news.resolve())
  try {
    while (!isOver && isWorthIt(last)) {
      await news.promise
      news = Promise.withResolvers()
      try {
        const result = await attempt()
        onRecovered?.('placement', { afterMs: performance.now() - failedAt })
        return result
      } catch (error) {
        last = error
      }
    }
    throw last
  } finally {
    clearTimeout(late)
    signal?.removeEventListener('abort', end)
  }
}

export interface RetryOptions {
  /** The error of the first attempt. */
  readonly failure: unknown
  readonly isWorthIt: (failure: unknown) => boolean
  readonly onRecovered?: OnRecovered | undefined
  /** Aborts when the caller has gone. */
  readonly signal?: CancelSignal | undefined
}
