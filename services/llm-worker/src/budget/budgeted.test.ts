import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { end, FakeModel, read, textDelta } from '../resilience/__fixtures__/fake-model.ts'
import { retried } from '../resilience/retried.ts'
import { sleep } from '@mcp-host/async'
import { budgeted } from './budgeted.ts'

const limits = { concurrent: 1 }

/** Requests in flight. */
let inFlight: number
/** Time for which each request is queued. */
let waitMs: number
const budgets = {
  async enter(_: string, __: object, signal: AbortSignal): Promise<Disposable> {
    await sleep(waitMs, signal)
    inFlight++
    return { [Symbol.dispose]: () => void inFlight-- }
  },
}
beforeEach(() => {
  vi.useFakeTimers()
  inFlight = 0
  waitMs = 0
})
afterEach(() => void vi.useRealTimers())

test('a request is in flight until its answer ends or its reader stops', async () => {
  const answers = new FakeModel('a', [textDelta('one'), textDelta('two'), end])
  const model = budgeted(answers, { budgets, limits, patienceMs: 5_000 })
  const seen: number[] = []
  const { signal } = new AbortController()
  for (const stopsAt of [2, 1]) {
    const reading = (async () => {
      let parts = 0
      for await (const _ of model.stream({ messages: [], tools: [] }, { signal })) {
        seen.push(inFlight)
        if (++parts === stopsAt) break
      }
    })()
    await vi.advanceTimersByTimeAsync(0)
    await reading
    expect(inFlight).toBe(0)
  }
  expect(seen).toEqual([1, 1, 1])
  expect(answers.abandoned).toBe(2)
})

test('a request that is queued too long fails without a request to its provider', async () => {
  waitMs = 10_000
  const answers = new FakeModel('a', [textDelta('no'), end])
  const model = retried(budgeted(answers, { budgets, limits, patienceMs: 5_000 }))
  for (let request = 0; request < 6; request++) {
    const reading = read(model)
    await vi.advanceTimersByTimeAsync(5_000)
    // Every request has this error: the circuit of the provider stays closed.
    expect(await reading).toMatchObject({
      parts: [],
      error: { code: 'exhausted', message: 'a has as much to do as it may' },
    })
  }
  expect([answers.requests, inFlight]).toEqual([0, 0])
})

test('a queued request can be cancelled', async () => {
  waitMs = 10_000
  const cancel = new AbortController()
  const model = budgeted(new FakeModel('a'), { budgets, limits, patienceMs: undefined })
  const reading = read(model, cancel.signal)
  const reason = new Error('not wanted any more')
  cancel.abort(reason)
  expect((await reading).error).toBe(reason)
})

test('a probe that is queued too long leaves the circuit of its provider open', async () => {
  const away = new BusError('unavailable', 'a answered 503')
  const model = retried(
    budgeted(new FakeModel('a', [away]), { budgets, limits, patienceMs: 5_000 }),
  )
  const errorAfter = async (ms: number) => {
    const reading = read(model)
    await vi.advanceTimersByTimeAsync(ms)
    return (await reading).error
  }
  for (let request = 0; request < 5; request++) await errorAfter(2_000)
  await vi.advanceTimersByTimeAsync(3_000)
  waitMs = 10_000
  expect(await errorAfter(5_000)).toMatchObject({ code: 'exhausted' })
  waitMs = 0
  expect(await errorAfter(10)).toMatchObject({ message: expect.stringContaining('left alone') })
})
