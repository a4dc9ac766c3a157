/** A server's caching hint of a list. */
export interface ListCaching {
  /** From `listedAt` on, in milliseconds; 0 where the server does not say. */
  readonly ttlMs: number
  /** `public`: also for other clients. */
  readonly cacheScope: 'public' | 'private'
  /** When it was asked for, in epoch milliseconds. */
  readonly listedAt: number
}

/** The shorter time, and the narrower scope of two hints. */
export function strictest(one: ListCaching, other: ListCaching): ListCaching {
  const isPublic = one.cacheScope === 'public' && other.cacheScope === 'public'
  return {
    ttlMs: Math.min(one.ttlMs, other.ttlMs),
    cacheScope: isPublic ? 'public' : 'private',
    listedAt: one.listedAt,
  }
}

/** The caching hint of one page. */
export function cachingOf(page: object, listedAt: number): ListCaching {
  const isPublic = 'cacheScope' in page && page.cacheScope === 'public'
  return { ttlMs: ttlOf(page), cacheScope: isPublic ? 'public' : 'private', listedAt }
}

function ttlOf(page: object): number {
  const ttlMs = 'ttlMs' in page ? page.ttlMs : undefined
  return typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) ? Math.max(0, ttlMs) : 0
}
