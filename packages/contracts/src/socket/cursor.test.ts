import { describe, expect, test } from 'vitest'
import type { Cursor } from './cursor.ts'
import { cursorAfter, formatCursor, parseCursor } from './cursor.ts'

describe('a cursor', () => {
  test.each<[string, Cursor]>([
    ['after an entry', cursorAfter(42)],
    ['at the very beginning', cursorAfter(0)],
    ['amid the events of an entry', { seq: 42, part: 3, fence: undefined, offset: 0 }],
    ['amid the text of a generation', { seq: 42, part: 2, fence: 40, offset: 1_234 }],
    ['in the first generation of a session', { seq: 1, part: 0, fence: 0, offset: 1 }],
  ])('%s comes back from its event id', (_, cursor) => {
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor)
  })

  test('after an entry stands behind all of it and in no text', () => {
    expect(cursorAfter(7)).toEqual({ seq: 7, part: 0, fence: undefined, offset: 0 })
  })

  test('has another id for every place', () => {
    const places = [0, 1, 11].flatMap((seq) =>
      [0, 1, 11].flatMap((part) =>
        [undefined, 0, 1, 11].flatMap((fence) =>
          [0, 1, 11].map((offset) => formatCursor({ seq, part, fence, offset })),
        ),
      ),
    )
    expect(new Set(places).size).toBe(places.length)
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
  ])('is not made of %j', (id) => {
    expect(parseCursor(id)).toBeUndefined()
  })
})
