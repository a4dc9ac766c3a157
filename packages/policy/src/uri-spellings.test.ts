import { expect, test } from 'vitest'
import { uriSpellings } from './uri-spellings.ts'

test.each([
  ['file:///etc/passwd', undefined],
  ['file:///public/', undefined],
  ['file:///{path}', undefined],
  ['mem:one', undefined],
  ['note', undefined],
  ['x://host', undefined],
  ['', undefined],
  ['file:///a/../etc/passwd', 'file:///etc/passwd'],
  ['file:///a/%2e%2e/etc/pass%77d', 'file:///etc/passwd'],
  ['file:///a%2f..%2fetc/passwd', 'file:///etc/passwd'],
  ['file:////etc//./passwd', 'file:///etc/passwd'],
  ['file:///../../etc/passwd', 'file:///etc/passwd'],
  ['FILE:///etc/passwd', 'file:///etc/passwd'],
  ['file:/etc/passwd', 'file:///etc/passwd'],
  ['file://localhost/etc/passwd', 'file:///etc/passwd'],
  ['x://host/a/..', 'x://host/'],
  ['x://host/a/.', 'x://host/a/'],
  ['x:%ff%20', undefined],
])('the URI %j is also understood as %j', (uri, plain) => {
  expect(uriSpellings(uri)).toEqual(plain === undefined ? [uri] : [uri, plain])
})
