import { expect, test } from 'vitest'
import { columnsOf, readJson } from './read-json.ts'

test('objects and lists are read; other texts stay texts', () => {
  expect(readJson(' {"a": [1]}\n')).toEqual({ a: [1] })
  expect(readJson('[]')).toEqual([])
  for (const text of ['', '7', '"a"', 'null', '{"a": 1', '[1] and more', '{a: 1}'])
    expect(readJson(text)).toBeUndefined()
})

test('what would be shown otherwise than it was written stays a text', () => {
  expect(readJson('{"id": 12345678901234567890}')).toBeUndefined()
  expect(readJson(`["${'x'.repeat(1_000_000)}"]`)).toBeUndefined()
})

test('a list of flat objects has the columns of all of them', () => {
  expect(
    columnsOf([
      { a: 1, b: 'x' },
      { c: null, a: true },
    ]),
  ).toEqual(['a', 'b', 'c'])
  for (const other of [{ a: 1 }, [], [{}], [1], [{ a: 1 }, [2]], [{ a: {} }], [null]])
    expect(columnsOf(other)).toBeUndefined()
  const wide = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`c${index}`, index]))
  expect(columnsOf([wide])).toBeUndefined()
})
