import { expect, test } from 'vitest'
import { Cancellation, toAbortSignal } from './cancellation.ts'

test('a cancellation calls its remaining listeners once, and keeps its first reason', () => {
  const cancellation = new Cancellation()
  const calls: string[] = []
  const removed = (): void => void calls.push('removed')
  cancellation.addEventListener('abort', () => void calls.push('first'))
  cancellation.addEventListener('abort', removed)
  cancellation.addEventListener('abort', () => void calls.push('last'))
  cancellation.removeEventListener('abort', removed)
  expect(() => cancellation.throwIfAborted()).not.toThrow()
  cancellation.cancel('why')
  cancellation.cancel('again')
  expect(calls).toEqual(['first', 'last'])
  expect(cancellation).toMatchObject({ aborted: true, reason: 'why' })
  expect(() => cancellation.throwIfAborted()).toThrow('why')
})

test('a cancellation without a reason has the reason of an abort signal', () => {
  const cancellation = new Cancellation()
  cancellation.cancel()
  expect(cancellation.reason).toEqual(AbortSignal.abort().reason)
})

test('a cancellation is converted to an abort signal', () => {
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
