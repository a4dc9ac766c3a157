import type { CancelSignal } from 'mcp-host/async'
import type { VirtualServer } from './virtual-server.ts'

/** How long a request waits for a server that is just starting, or moving to another supervisor. */
const PATIENCE_MS = 5_000

/**
 * Tries again, after a first failure, whenever the offer of a mount changes, for as long as `isWorthIt` says so of what
 * is thrown. Throws the last of it.
 */
export async function retryUntilListed<T>(
  { onChange }: Pick<VirtualServer, 'onChange'>,
  attempt: () => T | Promise<T>,
  { failure, isWorthIt, signal }: RetryOptions,
): Promise<T> {
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
        return await attempt()
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
  /** What the first attempt failed with. */
  readonly failure: unknown
  readonly isWorthIt: (failure: unknown) => boolean
  /** Aborts when nobody waits any more. */
  readonly signal?: CancelSignal | undefined
}
