import { describe, expect, test } from 'vitest'
import type { Cursor } from './cursor.ts'
import { cursorAfter, formatCursor, parseCursor } from './cursor.ts'

describe('a cursor', () => {
  test.each<[string, Cursor]>([
    ['a cursor after an entry', cursorAfter(42)],
    ['a cursor at the start', cursorAfter(0)],
    ['a cursor between events of an entry', { seq: 42, part: 3, fence: undefined, offset: 0 }],
    ['a cursor within the text of a generation', { seq: 42, part: 2, fence: 40, offset: 1_234 }],
    ['a cursor in the first generation of a session', { seq: 1, part: 0, fence: 0, offset: 1 }],
  ])('%s is parsed from its event id', (_, cursor) => {
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor)
  })

  test('a cursor after an entry has no part and no text offset', () => {
    expect(cursorAfter(7)).toEqual({ seq: 7, part: 0, fence: undefined, offset: 0 })
  })

  test('cursors of different positions have different ids', () => {
    const ids = [0, 1, 11].flatMap((seq) =>
      [0, 1, 11].flatMap((part) =>
        [undefined, 0, 1, 11].flatMap((fence) =>
          [0, 1, 11].map((offset) => formatCursor({ seq, part, fence, offset })),
        ),
      ),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  test.each([
    '',
    'rubbish',
    '1',
    '1.0.-',
    '1.0.-.0.0',
    '-1.0.-.0',
    '1.0.x.0',
    '1.5.-.0e3',
    ' 1.0.-.0',
    '1.0.-.0\n',
    `${'9'.repeat(16)}.0.-.0`,
    '1.0.-.١',
  ])('no cursor is parsed from %j', (id) => {
    expect(parseCursor(id)).toBeUndefined()
  })
})
