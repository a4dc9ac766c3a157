import { expect, test } from 'vitest'
import { SubscriptionCount } from './check-subscriptions.ts'

test('the streams of one principal leave subscriptions to those of others', () => {
  const subscriptions = new SubscriptionCount()
  const held = Array.from({ length: 5 }, () => subscriptions.take('user:mal', 1_000))
  expect(() => subscriptions.take('user:mal', 1)).toThrow(/at most 5000 subscriptions/)
  // A stream of changed lists alone.
  subscriptions.take('user:mal', 0)
  subscriptions.take('user:ann', 1_000)
  held[0]?.[Symbol.dispose]()
  subscriptions.take('user:mal', 1_000)
})

test('all streams together have a limit', () => {
  const subscriptions = new SubscriptionCount()
  for (const user of ['a', 'b', 'c', 'd']) {
    for (let streams = 0; streams < 5; streams++) subscriptions.take(user, 1_000)
  }
  expect(() => subscriptions.take('user:ann', 1)).toThrow(/all clients here are more than 20000/)
})
