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

/** The hints for lists of which other clients may see another part: only the client itself may cache them. */
export function privately(
  caching: ServerListing['caching'] = {},
): NonNullable<ServerListing['caching']> {
  const hints = Object.entries(caching).map(([list, each]) => [
    list,
    each && { ...each, cacheScope: 'private' },
  ])
  return Object.fromEntries(hints)
}

/** Whether anybody may cache a list of a server. */
export function hasPublicList({ caching = {} }: ServerListing): boolean {
  return Object.values(caching).some((each) => each?.cacheScope === 'public')
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
