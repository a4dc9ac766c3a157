import { expect, test } from 'vitest'
import { visibleText } from './visible-text.ts'

test.each([
  ['/home/me/\u202Etxt.slaog/', String.raw`/home/me/\u{202e}txt.slaog/`],
  ['a\u200Bb\u2066c\uFEFF', String.raw`a\u{200b}b\u{2066}c\u{feff}`],
  ['Cla\u00ADude\u3164\u061C\u{E0041}', String.raw`Cla\u{ad}ude\u{3164}\u{61c}\u{e0041}`],
  ['\u0007\u009B', String.raw`\u{7}\u{9b}`],
])('a character of %j that nobody sees is shown', (text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test('texts of people stay as they are', () => {
  const text = 'שלום\tمرحبا\nनमस्ते 👩‍👩‍👧 می‌خواهم'
  expect(visibleText(text)).toBe(text)
})
