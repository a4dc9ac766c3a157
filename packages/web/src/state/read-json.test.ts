import { expect, test } from 'vitest'
import { tableOf, readJson } from './read-json.ts'

test('objects and lists are read; other texts stay texts', () => {
  expect(readJson(' {"a": [1]}\n')).toEqual({ a: [1] })
  expect(readJson('[]')).toEqual([])
  for (const text of ['', '7', '"a"', 'null', '{"a": 1', '[1] and more', '{a: 1}'])
    expect(readJson(text)).toBeUndefined()
})

test('a text with numbers that would be rounded, or of great length, stays a text', () => {
  expect(readJson('{"id": 12345678901234567890}')).toBeUndefined()
  expect(readJson('[0.12345678901234567]')).toBeUndefined()
  expect(readJson('{"id": "1234567890123456\\"7890123456789012"}')).toBeDefined()
  expect(readJson(`["${'x'.repeat(1_000_000)}"]`)).toBeUndefined()
})

test('a list of flat objects is a table with the columns of all of them', () => {
  const rows = [
    { a: 1, b: 'x' },
    { c: null, a: true },
  ]
  expect(tableOf(rows)).toEqual({ rows, columns: ['a', 'b', 'c'] })
  for (const other of [{ a: 1 }, [], [{}], [1], [{ a: 1 }, [2]], [{ a: {} }], [null]])
    expect(tableOf(other)).toBeUndefined()
  const wide = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`c${index}`, index]))
  expect(tableOf([wide])).toBeUndefined()
})
