import { expect, test } from 'vitest'

import { TokenBucket } from './token-bucket.ts'

test('tokens are available for a burst, and then at their rate', () => {
  let now = 0
  const bucket = new TokenBucket({ perSecond: 10, burst: 3, now: () => now })
  const take = (count: number): boolean[] => Array.from({ length: count }, () => bucket.take())
  expect(take(4)).toEqual([true, true, true, false])
  now += 99
  expect(take(1)).toEqual([false])
  now += 1
  expect(take(2)).toEqual([true, false])
  now += 60_000
  expect(take(4)).toEqual([true, true, true, false])
})
