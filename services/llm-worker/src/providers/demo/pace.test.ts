import { expect, test } from 'vitest'
import { fakeClock } from './__fixtures__/fake-clock.ts'
import type { FakeClock, FakeClockOptions } from './__fixtures__/fake-clock.ts'
import { pace, wordTokens } from './pace.ts'

const NUMBERS = Array.from({ length: 1000 }, (_, index) => index)

async function emissions(clock: FakeClock, tokensPerSecond: number, count: number) {
  const start = clock.now()
  const signal = AbortSignal.any([])
  const times: number[] = []
  for await (const _ of pace(clock, NUMBERS.slice(0, count), { tokensPerSecond, signal })) {
    times.push(clock.now() - start)
  }
  return times
}

test('at 50 tokens per second every token goes out on its own tick of 20 ms', async () => {
  const clock = fakeClock()
  expect(await emissions(clock, 50, 5)).toEqual([0, 20, 40, 60, 80])
  expect(clock.delays).toEqual([20, 20, 20, 20])
})

test('late timers do not add up', async () => {
  const times = await emissions(fakeClock({ lateMs: 3 }), 50, 100)
  expect(times.at(-1)).toBe(99 * 20 + 3)
})

test('a rate beyond what timers can do is kept by giving out all that is due', async () => {
  const clock = fakeClock()
  const times = await emissions(clock, 10_000, 1000)
  expect(times.at(-1)).toBe(100)
  expect(clock.delays.length).toBeLessThanOrEqual(100)
})

test.each([0, Infinity])('a rate of %d waits only to let the event loop run', async (rate) => {
  const clock = fakeClock()
  expect(await emissions(clock, rate, 1000)).toHaveLength(1000)
  expect(clock.delays).toEqual([0])
})

async function abortedAt(options: FakeClockOptions, rate: number, controller: AbortController) {
  const seen: number[] = []
  const { signal } = controller
  const run = async () => {
    const tokens = pace(fakeClock(options), NUMBERS, { tokensPerSecond: rate, signal })
    for await (const token of tokens) {
      seen.push(token)
      if (rate === 0 && token === 7) controller.abort('enough')
    }
  }
  const reason: unknown = await run().catch((error: unknown) => error)
  return { seen, reason }
}

test('an abort in mid-wait ends the stream with its reason', async () => {
  const controller = new AbortController()
  const onDelay = (index: number) => (index === 2 ? controller.abort('enough') : undefined)
  const { seen, reason } = await abortedAt({ onDelay }, 50, controller)
  expect(reason).toBe('enough')
  expect(seen).toEqual([0, 1, 2])
})

test('an abort between two tokens ends the stream with its reason', async () => {
  const { seen, reason } = await abortedAt({}, 0, new AbortController())
  expect(reason).toBe('enough')
  expect(seen.at(-1)).toBe(7)
})

test.each(['', ' ', 'one', ' one  two\n\nthree ', 'ünïcode 🙂 words'])(
  'the tokens of %j join to the text again',
  (text) => {
    expect(wordTokens(text).join('')).toBe(text)
  },
)
