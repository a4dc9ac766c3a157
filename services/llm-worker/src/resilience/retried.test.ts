import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ProviderError } from '../provider-error.ts'
import { end, FakeModel, read, said } from './__fixtures__/fake-model.ts'
import { retried } from './retried.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = new BusError('unavailable', 'p answered 503')
const answer = [said('a'), end]

async function run(model: ReturnType<typeof retried>, ms = 60_000) {
  const result = read(model)
  await vi.advanceTimersByTimeAsync(ms)
  return await result
}

describe('a failure before the first part', () => {
  test('is not seen when asking again helps', async () => {
    const model = new FakeModel('p', [away], [away], answer)
    expect(await run(retried(model))).toEqual({ parts: answer, error: undefined })
    expect(model.asked).toBe(3)
  })

  test('is given on after the third', async () => {
    const model = new FakeModel('p', [away])
    expect(await run(retried(model))).toEqual({ parts: [], error: away })
    expect(model.asked).toBe(3)
  })

  test.each([
    new BusError('invalid', 'p answered 400'),
    new BusError('denied', 'p answered 401'),
    new BusError('not-found', 'p answered 404'),
    new BusError('deadline', 'p did not begin to answer within 1 s'),
    new Error('a fault of ours'),
  ])('that would come again is given on at once: %s', async (error) => {
    const model = new FakeModel('p', [error])
    expect(await run(retried(model))).toEqual({ parts: [], error })
    expect(model.asked).toBe(1)
  })

  test('waits as long as the provider says', async () => {
    const busy = new ProviderError('exhausted', 'p answered 429', { retryAfterMs: 3_000 })
    const model = new FakeModel('p', [busy], answer)
    const result = read(retried(model))
    await vi.advanceTimersByTimeAsync(2_900)
    expect(model.asked).toBe(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(await result).toEqual({ parts: answer, error: undefined })
  })

  test('is given on at once when the provider wants a long pause', async () => {
    const busy = new ProviderError('exhausted', 'p answered 429', { retryAfterMs: 30_000 })
    const model = new FakeModel('p', [busy])
    expect(await run(retried(model), 10)).toEqual({ parts: [], error: busy })
    expect(model.asked).toBe(1)
  })

  test('is not tried again once nobody wants it', async () => {
    const cancel = new AbortController()
    const model = new FakeModel('p', [away])
    const result = read(retried(model), cancel.signal)
    await vi.advanceTimersByTimeAsync(10)
    cancel.abort()
    const { error } = await result
    expect(error).toMatchObject({ name: 'AbortError' })
    expect(model.asked).toBe(1)
  })
})

test('a failure after the first part is given on: what was read stays', async () => {
  const model = new FakeModel('p', [said('a'), away])
  expect(await run(retried(model))).toEqual({ parts: [said('a')], error: away })
  expect(model.asked).toBe(1)
})

test('a reader who leaves ends the answer', async () => {
  const model = new FakeModel('p', [said('a'), said('b'), end])
  const signal = AbortSignal.any([])
  for await (const _ of retried(model).stream({ messages: [], tools: [] }, { signal })) break
  expect(model.left).toBe(1)
})

test('who fails again and again is left alone, and asked by one after a while', async () => {
  const fake = new FakeModel('p', ...Array.from({ length: 18 }, () => [away]), answer)
  const model = retried(fake)
  for (let request = 0; request < 5; request++) await run(model, 2_000)
  // Each is asked three times; the fifth in a row was the last.
  expect(fake.asked).toBe(15)
  const message = 'p answered 503; it is left alone for a while'
  expect((await run(model, 10)).error).toMatchObject({ code: 'unavailable', message, cause: away })
  expect(fake.asked).toBe(15)
  await vi.advanceTimersByTimeAsync(3_000)
  const probe = read(model)
  // Nobody waits for who finds out.
  expect((await run(model, 10)).error).toMatchObject({ message })
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await probe).error).toBe(away)
  expect(fake.asked).toBe(18)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await run(model)).toEqual({ parts: answer, error: undefined })
  expect(await run(model)).toEqual({ parts: answer, error: undefined })
})

test('who is to find out and gives up says nothing about the model', async () => {
  const fake = new FakeModel(
    'p',
    ...Array.from({ length: 15 }, () => [away]),
    [60_000, ...answer],
    answer,
  )
  const model = retried(fake)
  for (let request = 0; request < 5; request++) await run(model, 2_000)
  await vi.advanceTimersByTimeAsync(3_000)
  const cancel = new AbortController()
  const probe = read(model, cancel.signal)
  await vi.advanceTimersByTimeAsync(10)
  cancel.abort()
  expect((await probe).error).toMatchObject({ name: 'AbortError' })
  expect((await run(model, 10)).error).toMatchObject({ code: 'unavailable' })
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await run(model)).toEqual({ parts: answer, error: undefined })
})

test('what is the fault of the request is no failure of the model', async () => {
  const fake = new FakeModel('p', [new BusError('invalid', 'p answered 400')])
  const model = retried(fake)
  for (let index = 0; index < 10; index++) await run(model, 10)
  expect(fake.asked).toBe(10)
})
