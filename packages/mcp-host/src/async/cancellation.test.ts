import { expect, test } from 'vitest'
import { Cancellation, toAbortSignal } from './cancellation.ts'

test('a cancellation tells its reason once, to those who still listen', () => {
  const cancellation = new Cancellation()
  const told: string[] = []
  const gone = (): void => void told.push('gone')
  cancellation.addEventListener('abort', () => void told.push('first'))
  cancellation.addEventListener('abort', gone)
  cancellation.addEventListener('abort', () => void told.push('last'))
  cancellation.removeEventListener('abort', gone)
  expect(() => cancellation.throwIfAborted()).not.toThrow()
  cancellation.cancel('why')
  cancellation.cancel('again')
  expect(told).toEqual(['first', 'last'])
  expect(cancellation).toMatchObject({ aborted: true, reason: 'why' })
  expect(() => cancellation.throwIfAborted()).toThrow('why')
})

test('without a reason it says what an abort signal says', () => {
  const cancellation = new Cancellation()
  cancellation.cancel()
  expect(cancellation.reason).toEqual(AbortSignal.abort().reason)
})

test('what takes nothing less than an abort signal gets one', () => {
  const { signal } = new AbortController()
  expect(toAbortSignal(signal)).toBe(signal)
  const cancellation = new Cancellation()
  const before = toAbortSignal(cancellation)
  expect(before.aborted).toBe(false)
  cancellation.cancel('why')
  for (const each of [before, toAbortSignal(cancellation)]) {
    expect([each.aborted, each.reason]).toEqual([true, 'why'])
  }
})
