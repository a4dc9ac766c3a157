import { expect, test } from 'vitest'
import { FakeModel, read, textDelta } from '../resilience/__fixtures__/fake-model.ts'
import { estimated } from './estimated.ts'

test.each([[{}], [{ usage: {} }]])(
  'an answer without a usage gets an estimate (%j)',
  async (fields) => {
    const model = new FakeModel('a', [textDelta('12345678'), { type: 'end', ...fields }])
    const { parts } = await read(estimated(model))
    const usage = { inputTokens: 0, outputTokens: 2, isEstimate: true }
    expect(parts.at(-1)).toEqual({ type: 'end', usage })
  },
)

test('the usage of a provider is not changed', async () => {
  const end = { type: 'end' as const, usage: { outputTokens: 7 } }
  const { parts } = await read(estimated(new FakeModel('a', [textDelta('12345678'), end])))
  expect(parts.at(-1)).toBe(end)
})
