import { expect, test } from 'vitest'
import { Holdings } from './holdings.ts'

test('one holder gets a quarter, and what it gives back again', () => {
  const holdings = new Holdings(40)
  const held = Array.from({ length: 10 }, () => holdings.hold('user:mal'))
  expect(holdings.exceeded('user:mal')).toBe('own')
  expect(holdings.exceeded('user:ann')).toBeUndefined()
  held[0]?.[Symbol.dispose]()
  held[0]?.[Symbol.dispose]()
  expect(holdings.exceeded('user:mal')).toBeUndefined()
  expect(holdings.exceeded('user:mal', 2)).toBe('own')
})

test('all together get no more than the limit', () => {
  const holdings = new Holdings(40)
  for (const user of ['a', 'b', 'c', 'd']) holdings.hold(user, 10)
  expect(holdings.exceeded('user:ann')).toBe('all')
})

test('a part is never too small to work with, and a holder that stands for all has no part', () => {
  expect(new Holdings(1).ownLimit).toBe(1)
  expect(new Holdings(10).ownLimit).toBe(4)
  const holdings = new Holdings(40, 'local')
  holdings.hold('local', 39)
  expect(holdings.exceeded('local')).toBeUndefined()
  expect(holdings.exceeded('local', 2)).toBe('all')
})
