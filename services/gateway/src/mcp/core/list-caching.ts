import type { ListName, Offering } from './offer.ts'

/** For how long and for whom a list is good. */
export interface Caching {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** The same of one server's list. */
export interface ServerCaching extends Caching {
  /** Since when, in epoch milliseconds; absent where we hear of every change. */
  readonly listedAt?: number
}

const UNSAID: ServerCaching = { ttlMs: 0, cacheScope: 'private' }

/** What the servers say of a list that some of them have. */
export function cachingsOf(list: ListName, offerings: readonly Offering[]): ServerCaching[] {
  return offerings.flatMap(({ caching, [list]: items }) => {
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
