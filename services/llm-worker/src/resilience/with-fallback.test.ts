import { BusError } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { end, FakeModel, read, textDelta } from './__fixtures__/fake-model.ts'
import { withFallback } from './with-fallback.ts'

const away = (provider: string): BusError =>
  new BusError('unavailable', `${provider} cannot be reached`)
const notice = (failed: string, next: string) => [
  { type: 'notice', text: `${failed} cannot be reached; ${next} answers instead` },
  { type: 'answering', provider: next, model: 'fake-1' },
]

test('no fallback is requested while the first model answers', async () => {
  const other = new FakeModel('b', [textDelta('no'), end])
  const model = withFallback(new FakeModel('a', [textDelta('yes'), end]), [other])
  expect(await read(model)).toEqual({ parts: [textDelta('yes'), end], error: undefined })
  expect([model.provider, other.requests]).toEqual(['a', 0])
})

test('the next model answers, with a notice for each that failed', async () => {
  const model = withFallback(new FakeModel('a', [away('a')]), [
    new FakeModel('b', [away('b')]),
    new FakeModel('c', [textDelta('yes'), end]),
  ])
  expect(await read(model)).toEqual({
    parts: [...notice('a', 'b'), ...notice('b', 'c'), textDelta('yes'), end],
    error: undefined,
  })
})

test('the failure of the last model is passed on', async () => {
  const last = away('b')
  const model = withFallback(new FakeModel('a', [away('a')]), [new FakeModel('b', [last])])
  expect(await read(model)).toEqual({ parts: notice('a', 'b'), error: last })
})

test.each([
  ['text', textDelta('half')],
  ['reasoning', { type: 'reasoning-delta', text: 'hm' } as const],
  ['a call', { type: 'tool-call', name: 'x', arguments: '{}' } as const],
])('an answer that failed after %s is not continued by another model', async (_, part) => {
  const failure = away('a')
  const other = new FakeModel('b', [textDelta('other'), end])
  const model = withFallback(new FakeModel('a', [part, failure]), [other])
  expect(await read(model)).toEqual({ parts: [part], error: failure })
  expect(other.requests).toBe(0)
})

test('an answer that failed within its first call is given by the next model', async () => {
  const model = withFallback(new FakeModel('a', [{ type: 'progress' }, away('a')]), [
    new FakeModel('b', [textDelta('yes'), end]),
  ])
  const { parts } = await read(model)
  expect(parts).toEqual([{ type: 'progress' }, ...notice('a', 'b'), textDelta('yes'), end])
})

test('a context overflow is passed on without a fallback', async () => {
  const long = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  const other = new FakeModel('b', [textDelta('other'), end])
  const model = withFallback(new FakeModel('a', [long]), [other])
  expect(await read(model)).toEqual({ parts: [], error: long })
  expect(other.requests).toBe(0)
})

test('a model whose context window is too small is skipped', async () => {
  const small = Object.assign(new FakeModel('b', [textDelta('no'), end]), { contextWindow: 10 })
  const other = new FakeModel('c', [textDelta('yes'), end])
  const long = { messages: [{ role: 'user' as const, text: 'x'.repeat(100) }], tools: [] }
  const failure = away('a')
  const partsWith = async (...others: FakeModel[]) => {
    const model = withFallback(new FakeModel('a', [failure]), others)
    const { signal } = new AbortController()
    return await Array.fromAsync(model.stream(long, { signal }))
  }
  expect(await partsWith(small, other)).toEqual([...notice('a', 'c'), textDelta('yes'), end])
  await expect(partsWith(small)).rejects.toBe(failure)
  expect(small.requests).toBe(0)
})

test('a cancelled request has no fallback', async () => {
  const cancel = new AbortController()
  const other = new FakeModel('b', [textDelta('other'), end])
  const model = withFallback(new FakeModel('a', [60_000, end]), [other])
  const result = read(model, cancel.signal)
  cancel.abort()
  expect((await result).error).toMatchObject({ name: 'AbortError' })
  expect(other.requests).toBe(0)
})
