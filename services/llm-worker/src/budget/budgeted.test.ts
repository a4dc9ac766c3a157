import { BusError } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { end, FakeModel, read, said } from '../resilience/__fixtures__/fake-model.ts'
import { retried } from '../resilience/retried.ts'
import { sleep } from '@mcp-host/service'
import { budgeted } from './budgeted.ts'

const limits = { concurrent: 1 }

/** How many requests are under way. */
let inside: number
/** How long each waits for its turn. */
let waitMs: number
const budgets = {
  async enter(_: string, __: object, signal: AbortSignal): Promise<Disposable> {
    await sleep(waitMs, signal)
    inside++
    return { [Symbol.dispose]: () => void inside-- }
  },
}
beforeEach(() => {
  vi.useFakeTimers()
  inside = 0
  waitMs = 0
})
afterEach(() => void vi.useRealTimers())

test('a request counts as under way until its answer ends, or is left', async () => {
  const answers = new FakeModel('a', [said('one'), said('two'), end])
  const model = budgeted(answers, { budgets, limits, patienceMs: 5_000 })
  const seen: number[] = []
  const { signal } = new AbortController()
  for (const stopsAt of [2, 1]) {
    const reading = (async () => {
      let parts = 0
      for await (const _ of model.stream({ messages: [], tools: [] }, { signal })) {
        seen.push(inside)
        if (++parts === stopsAt) break
      }
    })()
    await vi.advanceTimersByTimeAsync(0)
    await reading
    expect(inside).toBe(0)
  }
  expect(seen).toEqual([1, 1, 1])
  expect(answers.left).toBe(2)
})

test('who waits too long for his turn is told, and the provider is not asked, nor again', async () => {
  waitMs = 10_000
  const answers = new FakeModel('a', [said('no'), end])
  const model = retried(budgeted(answers, { budgets, limits, patienceMs: 5_000 }))
  for (let request = 0; request < 6; request++) {
    const reading = read(model)
    await vi.advanceTimersByTimeAsync(5_000)
    // Each time, so it is not the provider that is left alone for a while.
    expect(await reading).toMatchObject({
      parts: [],
      error: { code: 'exhausted', message: 'a has as much to do as it may' },
    })
  }
  expect([answers.asked, inside]).toEqual([0, 0])
})

test('who waits may be cancelled', async () => {
  waitMs = 10_000
  const cancel = new AbortController()
  const model = budgeted(new FakeModel('a'), { budgets, limits, patienceMs: undefined })
  const reading = read(model, cancel.signal)
  const reason = new Error('not wanted any more')
  cancel.abort(reason)
  expect((await reading).error).toBe(reason)
})

test('who is to find out whether the provider is back, and gets no turn, finds out nothing', async () => {
  const away = new BusError('unavailable', 'a answered 503')
  const model = retried(
    budgeted(new FakeModel('a', [away]), { budgets, limits, patienceMs: 5_000 }),
  )
  const ask = async (ms: number) => {
    const reading = read(model)
    await vi.advanceTimersByTimeAsync(ms)
    return (await reading).error
  }
  for (let request = 0; request < 5; request++) await ask(2_000)
  await vi.advanceTimersByTimeAsync(3_000)
  waitMs = 10_000
  expect(await ask(5_000)).toMatchObject({ code: 'exhausted' })
  waitMs = 0
  expect(await ask(10)).toMatchObject({ message: expect.stringContaining('left alone') })
})
