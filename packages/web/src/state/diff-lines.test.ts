import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './diff-lines.ts'

const marks = { same: ' ', removed: '-', added: '+' }
const shown = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ kind, text }) => marks[kind] + text)

test('lines that changed are between those that stayed', () => {
  expect(shown('a\nb\nc\nd', 'a\nB\nc\nd')).toEqual([' a', '-b', '+B', ' c', ' d'])
  expect(shown('a\nb\nc', 'x\nb\ny\nc\nz')).toEqual(['-a', '+x', ' b', '+y', ' c', '+z'])
})

test('both texts can be read from the difference, and equal texts have none', () => {
  const text = array(constantFrom('a', 'b', 'c', ''), { maxLength: 8 })
  assert(
    property(text, text, (one, other) => {
      const [before, after] = [one.join('\n'), other.join('\n')]
      const lines = diffLines(before, after)
      const without = (kind: string): string =>
        lines.flatMap((line) => (line.kind === kind ? [] : [line.text])).join('\n')
      expect(without('added')).toBe(before)
      expect(without('removed')).toBe(after)
      if (before === after) expect(lines.every(({ kind }) => kind === 'same')).toBe(true)
    }),
  )
})

test('texts that are too large to be compared are shown one after the other', () => {
  const many = (mark: string): string =>
    Array.from({ length: 3_000 }, (_, index) => `${mark}${index}`).join('\n')
  const lines = diffLines(many('a'), many('b'))
  expect(lines.map(({ kind }) => kind)).toEqual([
    ...Array.from({ length: 3_000 }, () => 'removed'),
    ...Array.from({ length: 3_000 }, () => 'added'),
  ])
})
