import type { Usage } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { FakeModel, read, said } from '../resilience/__fixtures__/fake-model.ts'
import { priced } from './priced.ts'

const prices = { input: 3, cachedInput: 0.3, output: 15 }

test.each<[string, Usage, Parameters<typeof priced>[1], number]>([
  ['what was read and written', { inputTokens: 2_000, outputTokens: 100 }, prices, 0.0075],
  [
    'what was in the cache for less',
    { inputTokens: 2_000, cachedInputTokens: 1_000, outputTokens: 0 },
    prices,
    0.0033,
  ],
  [
    'what was in the cache as the rest, where nothing is said of it',
    { inputTokens: 2_000, cachedInputTokens: 1_000 },
    { input: 3, output: 15 },
    0.006,
  ],
])('an answer costs %s', async (_, usage, given, cost) => {
  const model = new FakeModel('a', [said('yes'), { type: 'end', usage }])
  const { parts } = await read(priced(model, given))
  expect(parts).toEqual([
    said('yes'),
    { type: 'end', usage: { ...usage, cost: expect.closeTo(cost, 10) } },
  ])
})

test('what was not counted has no cost', async () => {
  for (const end of [{ type: 'end' as const }, { type: 'end' as const, usage: {} }]) {
    const model = new FakeModel('a', [end])
    expect((await read(priced(model, prices))).parts).toEqual([end])
  }
})
