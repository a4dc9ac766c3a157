import { expect, test } from 'vitest'
import { FakeModel, read, said } from '../resilience/__fixtures__/fake-model.ts'
import { estimated } from './estimated.ts'

test.each([[{}], [{ usage: {} }]])(
  'an answer that its provider did not count has an estimate that says so',
  async (counted) => {
    const model = new FakeModel('a', [said('12345678'), { type: 'end', ...counted }])
    const { parts } = await read(estimated(model))
    const usage = { inputTokens: 0, outputTokens: 2, isEstimate: true }
    expect(parts.at(-1)).toEqual({ type: 'end', usage })
  },
)

test('what the provider counted is not touched', async () => {
  const end = { type: 'end' as const, usage: { outputTokens: 7 } }
  const { parts } = await read(estimated(new FakeModel('a', [said('12345678'), end])))
  expect(parts.at(-1)).toBe(end)
})
