import { expect, test } from 'vitest'
import { describeLimit } from './rate-limited.ts'

test.each([
  [1_000, 300, '5 calls are allowed per second; try again in 1 second'],
  [60_000, 1_001, '5 calls are allowed per minute; try again in 2 seconds'],
  [86_400_000, 7_300_000, '5 calls are allowed per day; try again in 3 hours'],
])(
  'a refusal names the rate of %d ms and the time to wait of %d ms',
  (windowMs, retryAfterMs, end) => {
    expect(describeLimit({ rate: { permits: 5, windowMs }, what: 'calls', retryAfterMs })).toBe(end)
  },
)
