import { describe, expect, test } from 'vitest'

import { isAllowed } from './tool-filter.ts'

test('every tool is allowed without a filter', () => {
  expect(isAllowed({}, 'any')).toBe(true)
})

test('a list of allowed tools excludes all others, even when it is empty', () => {
  expect(isAllowed({ allow: ['a'] }, 'a')).toBe(true)
  expect(isAllowed({ allow: ['a'] }, 'b')).toBe(false)
  expect(isAllowed({ allow: [] }, 'a')).toBe(false)
})

test('a denied tool is excluded even if it is allowed', () => {
  expect(isAllowed({ allow: ['*'], deny: ['a'] }, 'a')).toBe(false)
  expect(isAllowed({ deny: ['a'] }, 'b')).toBe(true)
})

describe('a pattern', () => {
  test.each([
    ['read_*', 'read_file', true],
    ['read_*', 'read_', true],
    ['read_*', 'unread_file', false],
    ['*_file', 'read_file', true],
    ['*_file', 'read_files', false],
    ['r*_*e', 'read_file', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['*a*b*', 'xxbxxaxx', false],
    ['*', '', true],
    ['**', 'x', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
    ['a?', 'ab', false],
    ['read', 'READ', false],
    ['caf\u00e9', 'cafe\u0301', true],
    ['delete', 'de\u200blete', true],
    ['del*', 'd\u{e0064}elete\ufeff', true],
    ['cafe\u0301*', 'caf\u00e9_order', true],
  ])('the pattern "%s" matches the name "%s": %s', (pattern, name, matches) => {
    expect(isAllowed({ allow: [pattern] }, name)).toBe(matches)
  })

  test('a pattern with many stars is fast on a name that almost matches', () => {
    expect(isAllowed({ allow: [`${'*a'.repeat(200)}b`] }, 'a'.repeat(100_000))).toBe(false)
  })
})
