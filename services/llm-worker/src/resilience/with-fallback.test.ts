import { BusError } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { end, FakeModel, read, said } from './__fixtures__/fake-model.ts'
import { withFallback } from './with-fallback.ts'

const away = (provider: string): BusError =>
  new BusError('unavailable', `${provider} cannot be reached`)
const notice = (failed: string, next: string) => [
  { type: 'notice', text: `${failed} cannot be reached; ${next} answers instead` },
  { type: 'answering', provider: next, model: 'fake-1' },
]

test('while the first answers, no other is asked', async () => {
  const other = new FakeModel('b', [said('no'), end])
  const model = withFallback(new FakeModel('a', [said('yes'), end]), [other])
  expect(await read(model)).toEqual({ parts: [said('yes'), end], error: undefined })
  expect([model.provider, other.asked]).toEqual(['a', 0])
})

test('the next answers, and the user is told, once for each that failed', async () => {
  const model = withFallback(new FakeModel('a', [away('a')]), [
    new FakeModel('b', [away('b')]),
    new FakeModel('c', [said('yes'), end]),
  ])
  expect(await read(model)).toEqual({
    parts: [...notice('a', 'b'), ...notice('b', 'c'), said('yes'), end],
    error: undefined,
  })
})

test('when the last one fails too, its failure is told', async () => {
  const last = away('b')
  const model = withFallback(new FakeModel('a', [away('a')]), [new FakeModel('b', [last])])
  expect(await read(model)).toEqual({ parts: notice('a', 'b'), error: last })
})

test.each([
  ['text', said('half')],
  ['reasoning', { type: 'reasoning-delta', text: 'hm' } as const],
  ['a call', { type: 'tool-call', name: 'x', arguments: '{}' } as const],
])('an answer of which %s came is never continued by another', async (_, part) => {
  const failure = away('a')
  const other = new FakeModel('b', [said('other'), end])
  const model = withFallback(new FakeModel('a', [part, failure]), [other])
  expect(await read(model)).toEqual({ parts: [part], error: failure })
  expect(other.asked).toBe(0)
})

test('a call of which nothing is complete is no beginning', async () => {
  const model = withFallback(new FakeModel('a', [{ type: 'progress' }, away('a')]), [
    new FakeModel('b', [said('yes'), end]),
  ])
  const { parts } = await read(model)
  expect(parts).toEqual([{ type: 'progress' }, ...notice('a', 'b'), said('yes'), end])
})

test('a conversation that is too long is shortened, not given to another', async () => {
  const long = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  const other = new FakeModel('b', [said('other'), end])
  const model = withFallback(new FakeModel('a', [long]), [other])
  expect(await read(model)).toEqual({ parts: [], error: long })
  expect(other.asked).toBe(0)
})

test('who cannot read all of it does not stand in', async () => {
  const small = Object.assign(new FakeModel('b', [said('no'), end]), { contextWindow: 10 })
  const other = new FakeModel('c', [said('yes'), end])
  const long = { messages: [{ role: 'user' as const, text: 'x'.repeat(100) }], tools: [] }
  const failure = away('a')
  const asked = async (...others: FakeModel[]) => {
    const model = withFallback(new FakeModel('a', [failure]), others)
    const { signal } = new AbortController()
    return await Array.fromAsync(model.stream(long, { signal }))
  }
  expect(await asked(small, other)).toEqual([...notice('a', 'c'), said('yes'), end])
  await expect(asked(small)).rejects.toBe(failure)
  expect(small.asked).toBe(0)
})

test('what is cancelled is asked of nobody else', async () => {
  const cancel = new AbortController()
  const other = new FakeModel('b', [said('other'), end])
  const model = withFallback(new FakeModel('a', [60_000, end]), [other])
  const result = read(model, cancel.signal)
  cancel.abort()
  expect((await result).error).toMatchObject({ name: 'AbortError' })
  expect(other.asked).toBe(0)
})
