import type { Caching, ListName, ServerCaching, ServerListing } from './server-listing.ts'

const UNSAID: ServerCaching = { ttlMs: 0, cacheScope: 'private' }

/** What the servers say of a list that some of them have. */
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

/** All of them together are good for as long as the first of them, and for whom each is. */
export function together(cachings: readonly ServerCaching[], now: number): Caching {
  if (cachings.length === 0) return UNSAID
  const left = cachings.map(({ ttlMs, listedAt = now }) =>
    // The clocks of two machines may differ.
    Math.max(0, Math.min(ttlMs, listedAt + ttlMs - now)),
  )
  const isPublic = cachings.every(({ cacheScope }) => cacheScope === 'public')
  return { ttlMs: Math.min(...left), cacheScope: isPublic ? 'public' : 'private' }
}
