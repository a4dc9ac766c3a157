import { expect, test } from 'vitest'
import { objectOf } from './object-of.ts'

test('an object has its fields; any other value has none', () => {
  const given = { a: 1 }
  expect(objectOf(given)).toBe(given)
  for (const other of [undefined, null, 7, 'text', ['a']]) expect(objectOf(other)).toEqual({})
})
