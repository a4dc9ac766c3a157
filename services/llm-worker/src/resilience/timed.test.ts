import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { end, FakeModel, read, textDelta } from './__fixtures__/fake-model.ts'
import { timed } from './timed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limits = { firstToken: 1_000, betweenTokens: 500, total: 3_000 }

async function run(model: FakeModel, ms: number, signal?: AbortSignal) {
  const result = read(timed(model, limits), signal)
  await vi.advanceTimersByTimeAsync(ms)
  return await result
}

test('an answer within the time limits is passed on', async () => {
  const model = new FakeModel('p', [900, textDelta('a'), 400, textDelta('b'), 400, end])
  expect(await run(model, 1_700)).toEqual({
    parts: [textDelta('a'), textDelta('b'), end],
    error: undefined,
  })
  expect(vi.getTimerCount()).toBe(0)
})

test.each([
  ['does not begin in time', [1_100, textDelta('a')], [], 'p did not begin to answer within 1 s'],
  [
    'pauses for too long',
    [textDelta('a'), 600, end],
    [textDelta('a')],
    'p wrote nothing more within 0.5 s',
  ],
  [
    'does not end in time',
    Array.from({ length: 20 }, () => [textDelta('a'), 400]).flat(),
    Array.from({ length: 8 }, () => textDelta('a')),
    'p did not end its answer within 3 s',
  ],
])('an answer that %s fails as deadline', async (_, steps, parts, message) => {
  const model = new FakeModel('p', steps)
  expect(await run(model, 10_000)).toMatchObject({ parts, error: { code: 'deadline', message } })
  expect(model.abandoned).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('the time of a slow reader is not counted', async () => {
  const model = new FakeModel('p', [textDelta('a'), textDelta('b'), end])
  const slowReader = (async () => {
    const parts: unknown[] = []
    const signal = AbortSignal.any([])
    for await (const part of timed(model, limits).stream({ messages: [], tools: [] }, { signal })) {
      parts.push(part)
      await new Promise((resolve) => setTimeout(resolve, 700))
    }
    return parts
  })()
  await vi.advanceTimersByTimeAsync(2_200)
  expect(await slowReader).toHaveLength(3)
})

test('a cancelled answer fails with the reason of the cancel', async () => {
  const cancel = new AbortController()
  const reason = new Error('not wanted any more')
  setTimeout(() => cancel.abort(reason), 100)
  const { error } = await run(new FakeModel('p', [2_000, end]), 200, cancel.signal)
  expect(error).toBe(reason)
})
