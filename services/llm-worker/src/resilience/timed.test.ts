import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { end, FakeModel, read, said } from './__fixtures__/fake-model.ts'
import { timed } from './timed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const limits = { firstToken: 1_000, betweenTokens: 500, total: 3_000 }

/** After a long outage of the broker: keeps the process unless another supervisor has taken its lease. */
async function run(model: FakeModel, ms: number, signal?: AbortSignal) {
  const result = read(timed(model, limits), signal)
  await vi.advanceTimersByTimeAsync(ms)
  return await result
}

test('a model that is fast enough is not noticed', async () => {
  const model = new FakeModel('p', [900, said('a'), 400, said('b'), 400, end])
  expect(await run(model, 1_700)).toEqual({ parts: [said('a'), said('b'), end], error: undefined })
  expect(vi.getTimerCount()).toBe(0)
})

test.each([
  ['does not begin', [1_100, said('a')], [], 'p did not begin to answer within 1 s'],
  ['stops half-way', [said('a'), 600, end], [said('a')], 'p wrote nothing more within 0.5 s'],
  [
    'goes on without end',
    Array.from({ length: 20 }, () => [said('a'), 400]).flat(),
    Array.from({ length: 8 }, () => said('a')),
    'p did not end its answer within 3 s',
  ],
])('a model that %s is left', async (_, steps, parts, message) => {
  const model = new FakeModel('p', steps)
  expect(await run(model, 10_000)).toMatchObject({ parts, error: { code: 'deadline', message } })
  expect(model.left).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('time that a reader takes is not counted', async () => {
  const model = new FakeModel('p', [said('a'), said('b'), end])
  const slowReader = (async () => {
    const given: unknown[] = []
    const signal = AbortSignal.any([])
    for await (const part of timed(model, limits).stream({ messages: [], tools: [] }, { signal })) {
      given.push(part)
      await new Promise((resolve) => setTimeout(resolve, 700))
    }
    return given
  })()
  await vi.advanceTimersByTimeAsync(2_200)
  expect(await slowReader).toHaveLength(3)
})

test('what is cancelled is cancelled, not late', async () => {
  const cancel = new AbortController()
  const reason = new Error('not wanted any more')
  setTimeout(() => cancel.abort(reason), 100)
  const { error } = await run(new FakeModel('p', [2_000, end]), 200, cancel.signal)
  expect(error).toBe(reason)
})
