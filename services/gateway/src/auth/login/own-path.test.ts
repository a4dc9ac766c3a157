import { expect, test } from 'vitest'
import { ownPath } from './own-path.ts'

test.each([
  ['/', '/'],
  ['/login', '/login'],
  ['/auth/authorize?a=b&c=%2F', '/auth/authorize?a=b&c=%2F'],
  ['/?to=//evil.example', '/?to=//evil.example'],
  ['/login/../chat', '/chat'],
  ['/login\\chat', '/login/chat'],
  ['/lo\tgin\n#part', '/login'],
  ['/%2F/evil.example', '/%2F/evil.example'],
  ['/%5C%5Cevil.example', '/%5C%5Cevil.example'],
])('a login may lead to %j, as %s', (path, expected) => {
  expect(ownPath(path)).toBe(expected)
})

test.each([
  undefined,
  '',
  'login',
  '//evil.example',
  '///evil.example',
  '////evil.example',
  '\\\\evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  '\t//evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/./\\evil.example',
  '/%2e//evil.example',
  '/%2e%2e//evil.example',
  '/%2E%2e\\/evil.example',
  '/login/..//evil.example',
  '/login/%2e%2e//evil.example',
  '/.\t//evil.example',
  '/..///evil.example',
  '/..//own.invalid/',
  '/..//user@evil.example:80/',
  'https://evil.example/',
  'http://own.invalid/',
  'javascript:alert(1)',
])('a login never leads to %j', (path) => {
  expect(ownPath(path)).toBeUndefined()
})
