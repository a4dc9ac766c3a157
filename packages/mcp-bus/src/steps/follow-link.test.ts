import { expect, test, vi } from 'vitest'
import { followLink } from './follow-link.ts'

const never = new Promise<void>(() => undefined)
const options = { signal: new AbortController().signal, limitMs: 20 }

test('what is done ends the question, even without an answer to it', async () => {
  let isWithdrawn = false
  const ask = (withdrawn: AbortSignal): Promise<string> =>
    new Promise(() => withdrawn.addEventListener('abort', () => (isWithdrawn = true)))
  expect(await followLink(ask, Promise.resolve(), options)).toBe(true)
  expect(isWithdrawn).toBe(true)
})

test('after the answer there is time to do it', async () => {
  const done = Promise.withResolvers<void>()
  const followed = followLink(async () => 'accept', done.promise, { ...options, limitMs: 60_000 })
  await new Promise((resolve) => setImmediate(resolve))
  done.resolve()
  expect(await followed).toBe(true)
})

test.each([
  ['a refusal', async () => 'decline', 60_000],
  ['a caller that cannot be asked', () => Promise.reject(new Error('no capability')), 60_000],
  ['the end of the time', async () => 'accept', 20],
])('%s ends the wait', async (_, ask, limitMs) => {
  expect(await followLink(ask, never, { ...options, limitMs })).toBe(false)
})

test('the end of the call ends the wait', async () => {
  const cancel = new AbortController()
  const ask = vi.fn(() => new Promise<string>(() => undefined))
  const followed = followLink(ask, never, { signal: cancel.signal, limitMs: 60_000 })
  cancel.abort()
  expect(await followed).toBe(false)
})
