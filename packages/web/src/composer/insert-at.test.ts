import { expect, test } from 'vitest'
import { insertAt } from './insert-at.ts'

test.each([
  [' please', 0, 'Sum this up. please'],
  ['First  and more', 6, 'First Sum this up. and more'],
  ['ab', 9, 'abSum this up.'],
  ['', 0, 'Sum this up.'],
])('the rest of "%s" is kept', (text, place, whole) => {
  expect(insertAt(text, place, 'Sum this up.')).toBe(whole)
})
