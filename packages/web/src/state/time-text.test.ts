import { expect, test } from 'vitest'
import { agoOf, timeOf } from './time-text.ts'

const NOW = new Date(2026, 10, 25, 12).getTime()
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

test.each([
  [-5_000, 'just now'],
  [0, 'just now'],
  [59_000, 'just now'],
  [MINUTE, '1 minute ago'],
  [2.9 * MINUTE, '2 minutes ago'],
  [60 * MINUTE, '1 hour ago'],
  [23.9 * 60 * MINUTE, '23 hours ago'],
  [DAY, 'yesterday'],
  [6.9 * DAY, '6 days ago'],
])('%d ms ago is said in words: %s', (passed, words) => {
  expect(agoOf(NOW - passed, NOW)).toBe(words)
})

test('a time of an earlier week is said by its day', () => {
  expect(agoOf(NOW - 7 * DAY, NOW)).toBe(timeOf(NOW - 7 * DAY).slice(0, 16))
})

test('words are short where there is little room', () => {
  expect(agoOf(NOW - 2 * MINUTE, NOW, 'narrow')).toBe('2m ago')
})
