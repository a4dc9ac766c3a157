import { beforeEach, expect, test } from 'vitest'

import { TtlCache } from './ttl-cache.ts'

let now = 0
let cache: TtlCache<string>

beforeEach(() => {
  now = 0
  cache = new TtlCache({ ttlMs: 1_000, maxEntries: 3, now: () => now })
})

test('a key that was not stored has no value', () => {
  expect(cache.get('a')).toBeUndefined()
})

test('a value is fresh for its time to live, and readable afterwards', () => {
  cache.set('a', 'one')
  now = 999
  expect(cache.get('a')).toEqual({ value: 'one', isFresh: true })
  now = 1_000
  expect(cache.get('a')).toEqual({ value: 'one', isFresh: false })
  now = 1_000_000
  expect(cache.get('a')).toEqual({ value: 'one', isFresh: false })
})

test('storing a key again replaces the value and resets its time', () => {
  cache.set('a', 'one')
  now = 900
  cache.set('a', 'two')
  now = 1_800
  expect(cache.get('a')).toEqual({ value: 'two', isFresh: true })
  expect(cache.size).toBe(1)
})

test('a value may have a time to live of its own', () => {
  cache.set('long', 'one', 5_000)
  cache.set('none', 'two', 0)
  now = 4_999
  expect(cache.get('long')?.isFresh).toBe(true)
  expect(cache.get('none')).toEqual({ value: 'two', isFresh: false })
})

test('the least recently used value is evicted beyond the limit', () => {
  for (const key of ['a', 'b', 'c']) cache.set(key, key)
  cache.get('a')
  cache.set('b', 'again')
  cache.set('d', 'd')
  expect(cache.size).toBe(3)
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key))).toEqual(['a', 'b', 'd'])
})

test('a cache never exceeds its limit', () => {
  for (let i = 0; i < 10_000; i += 1) cache.set(`key ${i}`, 'value')
  expect(cache.size).toBe(3)
  expect(cache.get('key 9999')?.value).toBe('value')
})

test('a cache with the limit 0 stores nothing', () => {
  cache = new TtlCache({ ttlMs: 1_000, maxEntries: 0, now: () => now })
  cache.set('a', 'one')
  expect(cache.size).toBe(0)
})

test('values are deleted by key, by prefix, or all', () => {
  for (const key of ['web/1', 'web/2', 'files/1']) cache.set(key, key)
  cache.delete('web/1')
  expect(cache.get('web/1')).toBeUndefined()
  cache.set('web/1', 'again')
  cache.deletePrefix('web/')
  expect(cache.size).toBe(1)
  expect(cache.get('files/1')?.value).toBe('files/1')
  cache.clear()
  expect(cache.size).toBe(0)
})
