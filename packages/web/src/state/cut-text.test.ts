import { expect, test } from 'vitest'
import { cutText } from './cut-text.ts'

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index}`).join('\n')

test('a text is cut behind its lines, or its characters', () => {
  expect(cutText(lines(3), { lines: 3, characters: 100 })).toEqual({ shown: lines(3), left: '' })
  expect(cutText(lines(9), { lines: 3, characters: 100 })).toEqual({
    shown: lines(3),
    left: '6 lines are left',
  })
  expect(cutText(lines(9), { lines: 3, characters: 10 })).toEqual({
    shown: 'line 0\nlin',
    left: '52 characters are left',
  })
  expect(cutText('x'.repeat(10), { lines: 3, characters: 10 }).left).toBe('')
  expect(cutText(`${lines(3)}\n`, { lines: 3, characters: 100 })).toEqual({
    shown: `${lines(3)}\n`,
    left: '',
  })
  expect(cutText(`${lines(4)}\n`, { lines: 3, characters: 100 }).left).toBe('1 line is left')
  expect(cutText('', { lines: 3, characters: 10 })).toEqual({ shown: '', left: '' })
})
