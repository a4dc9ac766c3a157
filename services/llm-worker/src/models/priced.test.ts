import type { Usage } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { FakeModel, read, textDelta } from '../resilience/__fixtures__/fake-model.ts'
import { priced } from './priced.ts'

const prices = { input: 3, cachedInput: 0.3, output: 15 }

test.each<[string, Usage, Parameters<typeof priced>[1], number]>([
  ['the input and output tokens', { inputTokens: 2_000, outputTokens: 100 }, prices, 0.0075],
  [
    'cached input tokens at their own price',
    { inputTokens: 2_000, cachedInputTokens: 1_000, outputTokens: 0 },
    prices,
    0.0033,
  ],
  [
    'cached input tokens at the full price if no other is set',
    { inputTokens: 2_000, cachedInputTokens: 1_000 },
    { input: 3, output: 15 },
    0.006,
  ],
])('the cost of an answer counts %s', async (_, usage, price, cost) => {
  const model = new FakeModel('a', [textDelta('yes'), { type: 'end', usage }])
  const { parts } = await read(priced(model, price))
  expect(parts).toEqual([
    textDelta('yes'),
    { type: 'end', usage: { ...usage, cost: expect.closeTo(cost, 10) } },
  ])
})

test('an answer without a usage has no cost', async () => {
  for (const end of [{ type: 'end' as const }, { type: 'end' as const, usage: {} }]) {
    const model = new FakeModel('a', [end])
    expect((await read(priced(model, prices))).parts).toEqual([end])
  }
})
