import { inspect } from 'node:util'

import { expect, test } from 'vitest'

import { maskError, maskJson, maskSecrets } from './mask-secrets.ts'

test('a value of the environment is replaced by its name', () => {
  const mask = maskSecrets({ API_KEY: 'k-12', DATA: 'postgres-data' })
  expect(mask('k-12 opens postgres-data')).toBe('[API_KEY] opens [DATA]')
})

test('the longest secret is masked when another secret is its beginning', () => {
  const mask = maskSecrets({ ONE: 'abcdefgh', OTHER: 'abcdefghijkl' })
  expect(mask('abcdefghijkl')).toBe('[OTHER]')
})

test('short values of variables without secret names are not masked', () => {
  expect(maskSecrets({ LOG_LEVEL: 'debug', PORT: '8080' })('debug: port 8080')).toBe(
    'debug: port 8080',
  )
})

test('paths are not masked unless the name of the variable is that of a secret', () => {
  const mask = maskSecrets({ HOME: '/home/someone/files', TOKEN: '/path/like/token' })
  expect(mask('no /home/someone/files/a.txt, no /path/like/token')).toBe(
    'no /home/someone/files/a.txt, no [TOKEN]',
  )
})

test('a value that errors have to name is masked only if its name is that of a secret', () => {
  const values = { PROGRAM: 'my-program', TOKEN: 'my-token-1', OTHER: 'my-program-2' }
  const mask = maskSecrets(values, 'my-program my-token-1')
  expect(mask('no my-program, my-token-1 and my-program-2')).toBe(
    'no my-program, [TOKEN] and [OTHER]',
  )
})

test('each line of a multi-line secret is masked', () => {
  const mask = maskSecrets({ PEM: '-----BEGIN-----\nAAAABBBB\n-----END-----\n' })
  expect(mask('read AAAABBBB')).toBe('read [PEM]')
})

test('the user name and password of a URL are masked', () => {
  expect(maskSecrets({})('via http://me:pass@proxy:3128/x')).toBe(
    'via http://[hidden]@proxy:3128/x',
  )
})

test.each([
  'true',
  '8080',
  '12345678901',
  'localhost',
  '127.0.0.1',
  'production',
  'application/json',
])('the common value %s is not masked', (value) => {
  expect(maskSecrets({ SOME: value })(`it is ${value}`)).toBe(`it is ${value}`)
})

test('the secret of a header is masked without its scheme, too', () => {
  const mask = maskSecrets({ Authorization: 'Bearer abc-123-xyz' })
  expect(mask('Bearer abc-123-xyz, abc-123-xyz')).toBe('[Authorization], [Authorization]')
  expect(mask('Bearer of news')).toBe('Bearer of news')
})

test.each([
  ['base64', Buffer.from('p?>a/s s"\\w').toString('base64')],
  ['base64url', Buffer.from('p?>a/s s"\\w').toString('base64url')],
  ['base64 with more data', Buffer.from('p?>a/s s"\\w:more').toString('base64')],
  ['percent-encoded', 'p%3F%3Ea%2Fs%20s%22%5Cw'],
  ['percent-encoded in lower case', 'p%3f%3ea%2fs%20s%22%5cw'],
  ['escaped for JSON', 'p?>a/s s\\"\\\\w'],
])('a secret is masked in the form %s', (_, encoded) => {
  const masked = maskSecrets({ KEY: 'p?>a/s s"\\w' })(`sent <${encoded}>`)
  expect(masked).toMatch(/^sent <\[KEY\]\S{0,10}>$/)
})

test('a secret with a lone surrogate is masked', () => {
  expect(maskSecrets({ KEY: 'abcd\uD800' })('abcd\uD800')).toBe('[KEY]')
})

test('all strings and keys of a JSON value are masked', () => {
  const mask = maskSecrets({ KEY: 'abcd' })
  const value = { abcd: ['abcd', 1, null, true, { deep: 'x abcd' }] }
  expect(maskJson(value, mask)).toEqual({ '[KEY]': ['[KEY]', 1, null, true, { deep: 'x [KEY]' }] })
})

test('a deeply nested value is masked without an overflow of the stack', () => {
  let value: unknown = 'abcd'
  for (let level = 0; level < 100_000; level += 1) value = [value]
  expect(JSON.stringify(maskJson(value, maskSecrets({ KEY: 'abcd' })))).toContain('[hidden]')
})

test('an error is masked with its causes, stack and fields', () => {
  const cause = Object.assign(new Error('sent abcd'), { data: { text: 'abcd' }, status: 400 })
  const several = new AggregateError([cause], 'all of abcd failed')
  const error = new Error('with abcd', { cause: several })
  const masked = inspect(maskError(error, maskSecrets({ KEY: 'abcd' })), { depth: 10 })
  expect(masked).not.toContain('abcd')
  expect(masked).toContain('status: 400')
  expect(error.message).toBe('with [KEY]')
})

test('a frozen error and a value that is no error are unchanged', () => {
  const mask = maskSecrets({ KEY: 'abcd' })
  const frozen = Object.freeze(new Error('abcd'))
  expect(() => maskError(frozen, mask)).not.toThrow()
  expect(maskError('abcd', mask)).toBe('abcd')
})

const KEY = 'p?>a/s s"\\w-Key'

test.each([
  ['hexadecimal', Buffer.from(KEY).toString('hex')],
  ['hexadecimal in upper case', Buffer.from(KEY).toString('hex').toUpperCase()],
  ['upper case', KEY.toUpperCase()],
  ['lower case', KEY.toLowerCase()],
  ...[1, 2, 3, 4, 5].map((before): [string, string] => [
    `base64 after ${before} bytes`,
    Buffer.from(`${'x'.repeat(before)}${KEY} and more`).toString('base64'),
  ]),
])('a secret in %s is masked', (_, text) => {
  const masked = maskSecrets({ TOKEN: KEY })(`it is ${text}`)
  expect(masked).toMatch(/^it is .{0,8}\[TOKEN\]/)
  expect(masked).not.toContain(text)
})

test('a short secret is masked only in the forms that cannot be other words', () => {
  expect(maskSecrets({ KEY: 'aB1c' })('AB1C ab1c aB1c')).toBe('AB1C ab1c [KEY]')
})
