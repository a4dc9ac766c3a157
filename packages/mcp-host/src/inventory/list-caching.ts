/** For how long and for whom a list is good, as its server says. */
export interface ListCaching {
  /** From `listedAt` on, in milliseconds; 0 where the server does not say. */
  readonly ttlMs: number
  /** `public`: also for others than who asked for it. */
  readonly cacheScope: 'public' | 'private'
  /** When it was asked for, in epoch milliseconds. */
  readonly listedAt: number
}

/** Of the page that is good for the shortest time, and for the fewest. */
export function strictest(one: ListCaching, other: ListCaching): ListCaching {
  const isPublic = one.cacheScope === 'public' && other.cacheScope === 'public'
  return {
    ttlMs: Math.min(one.ttlMs, other.ttlMs),
    cacheScope: isPublic ? 'public' : 'private',
    listedAt: one.listedAt,
  }
}

/** What one page says. */
export function cachingOf(page: object, listedAt: number): ListCaching {
  const isPublic = 'cacheScope' in page && page.cacheScope === 'public'
  return { ttlMs: ttlOf(page), cacheScope: isPublic ? 'public' : 'private', listedAt }
}

function ttlOf(page: object): number {
  const ttlMs = 'ttlMs' in page ? page.ttlMs : undefined
  return typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) ? Math.max(0, ttlMs) : 0
}
