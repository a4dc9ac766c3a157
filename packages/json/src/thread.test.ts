import { expect, test } from 'vitest'

import { parseInThread, stringifyInThread } from './thread.ts'

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const value = { text: 'é"👋\n'.repeat(500_000), list: [1, null, { a: true }] }

test.each([
  ['a value is parsed', () => parseInThread(bytes(JSON.stringify(value))), value],
  ['a value is encoded', () => stringifyInThread(value), bytes(JSON.stringify(value))],
])('%s without blocking the event loop', async (_, work, expected) => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  expect(await work()).toEqual(expected)
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(1)
})

test('invalid JSON is an error, and the next text is parsed', async () => {
  const failed = parseInThread(bytes('{"a":'))
  const next = parseInThread(bytes('[1]'))
  await expect(failed).rejects.toThrow(SyntaxError)
  expect(await next).toEqual([1])
})

test('a part of a larger buffer is parsed', async () => {
  expect(await parseInThread(bytes('xx[1,2]yy').subarray(2, 7))).toEqual([1, 2])
})

test('a value that cannot cross the thread boundary is an error', async () => {
  const depth = 20_000
  await expect(parseInThread(bytes('['.repeat(depth) + ']'.repeat(depth)))).rejects.toThrow()
  await expect(stringifyInThread({ f: () => 1 })).rejects.toThrow('could not be cloned')
  expect(await parseInThread(bytes('[1]'))).toEqual([1])
})
