import { expect, test } from 'vitest'
import { sumUsage } from './sum-usage.ts'

test('the usage of all sessions is summed by model, the most used first', () => {
  const small = { provider: 'a', model: 'x', generations: 1, inputTokens: 1, outputTokens: 2 }
  const large = { provider: 'b', model: 'y', generations: 1, inputTokens: 100, cost: 0.5 }
  expect(sumUsage([{ usage: [small, large] }, { usage: [] }, { usage: [small] }])).toEqual([
    { model: 'b/y', inputTokens: 100, outputTokens: 0, cost: 0.5 },
    { model: 'a/x', inputTokens: 2, outputTokens: 4, cost: undefined },
  ])
})
