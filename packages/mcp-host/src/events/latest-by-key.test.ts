import { expect, test } from 'vitest'

import { LatestByKey } from './latest-by-key.ts'

test('a slow reader gets the latest value of each key, once', async () => {
  const queue = new LatestByKey<number>()
  for (let i = 0; i < 1000; i += 1) queue.put(i % 2 === 0 ? 'even' : 'odd', i)
  queue.close()
  expect(await Array.fromAsync(queue.read())).toEqual([998, 999])
})

test('a waiting reader gets the next value, and ends with the queue', async () => {
  const queue = new LatestByKey<string>()
  const reader = queue.read()
  const next = reader.next()
  queue.put('a', 'one')
  expect(await next).toEqual({ done: false, value: 'one' })
  const end = reader.next()
  queue.close()
  expect(await end).toEqual({ done: true, value: undefined })
})
