import { expect, test } from 'vitest'
import { completionAt } from './completion-at.ts'

test.each([
  ['/', { kind: 'prompt', word: '', start: 0 }],
  ['/sum', { kind: 'prompt', word: 'sum', start: 0 }],
  ['@', { kind: 'resource', word: '', start: 0 }],
  ['look at @read', { kind: 'resource', word: 'read', start: 8 }],
  ['a\n@x', { kind: 'resource', word: 'x', start: 2 }],
])('"%s" asks for a completion', (text, completion) => {
  expect(completionAt(text, text.length)).toEqual(completion)
})

test.each(['', 'a/b', '/sum of', ' /sum', 'ann@example.com', '@read me'])(
  '"%s" asks for none',
  (text) => {
    expect(completionAt(text, text.length)).toBe(undefined)
  },
)

test('only what is before the caret counts', () => {
  expect(completionAt('@read me', 3)).toEqual({ kind: 'resource', word: 're', start: 0 })
})
