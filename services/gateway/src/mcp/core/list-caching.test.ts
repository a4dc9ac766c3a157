import { expect, test } from 'vitest'
import type { ServerCaching } from './server-listing.ts'
import { cachingsOf, together } from './list-caching.ts'
import type { ServerListing } from './server-listing.ts'

const NOW = 1_000_000
const open: ServerCaching = { ttlMs: 60_000, cacheScope: 'public' }
const unsaid: ServerCaching = { ttlMs: 0, cacheScope: 'private' }
const listed = (age: number): ServerCaching => ({ ...open, listedAt: NOW - age })

test.each<[string, ServerCaching[], ServerCaching]>([
  ['nothing is known of what nobody lists', [], unsaid],
  ['one says it for itself', [open], open],
  ['the shortest time counts', [open, { ...open, ttlMs: 5 }], { ...open, ttlMs: 5 }],
  [
    'one private list makes all so',
    [open, { ...open, cacheScope: 'private' }, open],
    { ...open, cacheScope: 'private' },
  ],
  ['one that says nothing counts as that', [open, unsaid], unsaid],
  ['of what was read before the rest is left', [open, listed(20_000)], { ...open, ttlMs: 40_000 }],
  ['of what was read too long ago nothing is', [listed(70_000)], { ...open, ttlMs: 0 }],
  ['a clock that is ahead makes it no longer', [listed(-9_000)], open],
])('%s', (_, cachings, expected) => {
  expect(together(cachings, NOW)).toEqual(expected)
})

test('who has no such list does not count; who lists and says nothing does', () => {
  const lists = { prompts: [], resources: [], resourceTemplates: [] }
  const serverListings: ServerListing[] = [
    { server: 'a', tools: [{ name: 't' }], ...lists, caching: { tools: open } },
    { server: 'b', tools: [], ...lists, caching: { tools: listed(1) } },
    { server: 'c', tools: [], ...lists },
    { server: 'd', tools: [{ name: 't' }], ...lists },
  ]
  expect(cachingsOf('tools', serverListings)).toEqual([open, listed(1), unsaid])
  expect(cachingsOf('prompts', serverListings)).toEqual([])
})
