import { expect, test } from 'vitest'
import { TokenCache } from './token-cache.ts'

test('a token is known until its time is over', () => {
  let now = 0
  const cache = new TokenCache<string>(() => now)
  cache.set('token', 'ann', 100)
  expect(cache.get('token')).toBe('ann')
  expect(cache.get('other')).toBeUndefined()
  now = 100
  expect(cache.get('token')).toBeUndefined()
})

test('values can be forgotten before their time', () => {
  const cache = new TokenCache<string>(() => 0)
  cache.set('one', 'ann', 100)
  cache.set('two', 'bob', 100)
  cache.deleteWhere((value) => value === 'ann')
  expect(cache.get('one')).toBeUndefined()
  expect(cache.get('two')).toBe('bob')
})

test('of more than 10,000 tokens the oldest are evicted', () => {
  const cache = new TokenCache<number>(() => 0)
  for (let token = 0; token <= 10_000; token++) cache.set(String(token), token, 100)
  expect(cache.get('0')).toBeUndefined()
  expect(cache.get('1')).toBe(1)
  expect(cache.get('10000')).toBe(10_000)
})
