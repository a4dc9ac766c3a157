import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ProviderError } from '../provider-error.ts'
import { end, FakeModel, read, textDelta } from './__fixtures__/fake-model.ts'
import { retried } from './retried.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = new BusError('unavailable', 'p answered 503')
const answer = [textDelta('a'), end]

async function run(model: ReturnType<typeof retried>, ms = 60_000) {
  const result = read(model)
  await vi.advanceTimersByTimeAsync(ms)
  return await result
}

describe('failures before the first part', () => {
  test('a failure is hidden when a retry succeeds', async () => {
    const model = new FakeModel('p', [away], [away], answer)
    expect(await run(retried(model))).toEqual({ parts: answer, error: undefined })
    expect(model.requests).toBe(3)
  })

  test('a failure is passed on after three attempts', async () => {
    const model = new FakeModel('p', [away])
    expect(await run(retried(model))).toEqual({ parts: [], error: away })
    expect(model.requests).toBe(3)
  })

  test.each([
    new BusError('invalid', 'p answered 400'),
    new BusError('denied', 'p answered 401'),
    new BusError('not-found', 'p answered 404'),
    new BusError('deadline', 'p did not begin to answer within 1 s'),
    new Error('an internal error'),
  ])('a permanent failure is passed on at once: %s', async (error) => {
    const model = new FakeModel('p', [error])
    expect(await run(retried(model))).toEqual({ parts: [], error })
    expect(model.requests).toBe(1)
  })

  test('a retry waits for the time that the provider asks for', async () => {
    const busy = new ProviderError('exhausted', 'p answered 429', { retryAfterMs: 3_000 })
    const model = new FakeModel('p', [busy], answer)
    const result = read(retried(model))
    await vi.advanceTimersByTimeAsync(2_900)
    expect(model.requests).toBe(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(await result).toEqual({ parts: answer, error: undefined })
  })

  test('a failure is passed on at once when the provider asks for a long pause', async () => {
    const busy = new ProviderError('exhausted', 'p answered 429', { retryAfterMs: 30_000 })
    const model = new FakeModel('p', [busy])
    expect(await run(retried(model), 10)).toEqual({ parts: [], error: busy })
    expect(model.requests).toBe(1)
  })

  test('a cancelled request is not retried', async () => {
    const cancel = new AbortController()
    const model = new FakeModel('p', [away])
    const result = read(retried(model), cancel.signal)
    await vi.advanceTimersByTimeAsync(10)
    cancel.abort()
    const { error } = await result
    expect(error).toMatchObject({ name: 'AbortError' })
    expect(model.requests).toBe(1)
  })
})

test('a failure after the first part is passed on without a retry', async () => {
  const model = new FakeModel('p', [textDelta('a'), away])
  expect(await run(retried(model))).toEqual({ parts: [textDelta('a')], error: away })
  expect(model.requests).toBe(1)
})

test('an abandoned answer ends at the model', async () => {
  const model = new FakeModel('p', [textDelta('a'), textDelta('b'), end])
  const signal = AbortSignal.any([])
  for await (const _ of retried(model).stream({ messages: [], tools: [] }, { signal })) break
  expect(model.abandoned).toBe(1)
})

test('the circuit of a failing model opens, and one request probes it after a pause', async () => {
  const fake = new FakeModel('p', ...Array.from({ length: 18 }, () => [away]), answer)
  const model = retried(fake)
  for (let request = 0; request < 5; request++) await run(model, 2_000)
  // Each request has three attempts; after the fifth failed request the circuit is open.
  expect(fake.requests).toBe(15)
  const message = 'p answered 503; it is left alone for a while'
  expect((await run(model, 10)).error).toMatchObject({ code: 'unavailable', message, cause: away })
  expect(fake.requests).toBe(15)
  await vi.advanceTimersByTimeAsync(3_000)
  const probe = read(model)
  // Other requests fail at once during the probe.
  expect((await run(model, 10)).error).toMatchObject({ message })
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await probe).error).toBe(away)
  expect(fake.requests).toBe(18)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await run(model)).toEqual({ parts: answer, error: undefined })
  expect(await run(model)).toEqual({ parts: answer, error: undefined })
})

test('a cancelled probe does not change the circuit', async () => {
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

test('an invalid request does not count as a failure of the model', async () => {
  const fake = new FakeModel('p', [new BusError('invalid', 'p answered 400')])
  const model = retried(fake)
  for (let index = 0; index < 10; index++) await run(model, 10)
  expect(fake.requests).toBe(10)
})
