import { expect, test } from 'vitest'
import type { ServerCaching } from './server-listing.ts'
import { cachingsOf, together } from './list-caching.ts'
import type { ServerListing } from './server-listing.ts'

const NOW = 1_000_000
const open: ServerCaching = { ttlMs: 60_000, cacheScope: 'public' }
const unset: ServerCaching = { ttlMs: 0, cacheScope: 'private' }
const listed = (age: number): ServerCaching => ({ ...open, listedAt: NOW - age })

test.each<[string, ServerCaching[], ServerCaching]>([
  ['the default without any list', [], unset],
  ['that of a single list', [open], open],
  ['the shortest time', [open, { ...open, ttlMs: 5 }], { ...open, ttlMs: 5 }],
  [
    'the private scope if one list is private',
    [open, { ...open, cacheScope: 'private' }, open],
    { ...open, cacheScope: 'private' },
  ],
  ['the default if one list has none', [open, unset], unset],
  [
    'the remaining time of a list that was read earlier',
    [open, listed(20_000)],
    { ...open, ttlMs: 40_000 },
  ],
  ['no time for a list that was read too long ago', [listed(70_000)], { ...open, ttlMs: 0 }],
  ['no more than the full time if a clock is ahead', [listed(-9_000)], open],
])('the caching of a merged list is %s', (_, cachings, expected) => {
  expect(together(cachings, NOW)).toEqual(expected)
})

test('a server with items and no caching counts, one without items does not', () => {
  const lists = { prompts: [], resources: [], resourceTemplates: [] }
  const serverListings: ServerListing[] = [
    { server: 'a', tools: [{ name: 't' }], ...lists, caching: { tools: open } },
    { server: 'b', tools: [], ...lists, caching: { tools: listed(1) } },
    { server: 'c', tools: [], ...lists },
    { server: 'd', tools: [{ name: 't' }], ...lists },
  ]
  expect(cachingsOf('tools', serverListings)).toEqual([open, listed(1), unset])
  expect(cachingsOf('prompts', serverListings)).toEqual([])
})
