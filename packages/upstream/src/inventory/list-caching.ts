/** A server's caching hint of a list. */
export interface ListCaching {
  /** The lifetime from `listedAt` on, in milliseconds; 0 when the server gives none. */
  readonly ttlMs: number
  /** `public`: the list may be cached for other clients, too. */
  readonly cacheScope: 'public' | 'private'
  /** The time of the request, in epoch milliseconds. */
  readonly listedAt: number
}

/** Combines two hints: the shorter time and the narrower scope. */
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
