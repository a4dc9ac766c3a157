import type { Caching, ListName, ServerCaching, ServerListing } from './server-listing.ts'

const UNSAID: ServerCaching = { ttlMs: 0, cacheScope: 'private' }

/** The caching hints of all servers that have the list. */
export function cachingsOf(
  list: ListName,
  serverListings: readonly ServerListing[],
): ServerCaching[] {
  return serverListings.flatMap(({ caching, [list]: items }) => {
    const said = caching?.[list]
    if (said !== undefined) return [said]
    return items.length > 0 ? [UNSAID] : []
  })
}

/** The strictest of all hints: the shortest time, and public only when all are. */
export function together(cachings: readonly ServerCaching[], now: number): Caching {
  if (cachings.length === 0) return UNSAID
  const left = cachings.map(({ ttlMs, listedAt = now }) =>
    // The clocks of two machines may differ.
    Math.max(0, Math.min(ttlMs, listedAt + ttlMs - now)),
  )
  const isPublic = cachings.every(({ cacheScope }) => cacheScope === 'public')
  return { ttlMs: Math.min(...left), cacheScope: isPublic ? 'public' : 'private' }
}
