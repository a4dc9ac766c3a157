import { expect, test } from 'vitest'
import { ownPath } from './own-path.ts'

test.each(['/', '/login', '/auth/authorize?a=b&c=%2F'])('a login may lead to %s', (path) => {
  expect(ownPath(path)).toBe(path)
})

test.each([
  undefined,
  '',
  'login',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
])('a login never leads to %s', (path) => {
  expect(ownPath(path)).toBeUndefined()
})
