import { expect, test } from 'vitest'
import { newApiKey, parseApiKey, principalOfKey } from './api-key.ts'

const about = {
  name: 'pipeline',
  principal: 'key:ci',
  roles: ['user'],
  scopes: ['mcp' as const],
  createdBy: 'local',
}

test('a key opens its principal, and its record does not hold it', () => {
  const { id, key, record } = newApiKey(about, 1_000)
  const parsed = parseApiKey(key)
  expect(parsed?.id).toBe(id)
  expect(JSON.stringify(record)).not.toContain(parsed?.secret)
  expect(principalOfKey(record, parsed?.secret ?? '', 2_000)).toEqual({
    id: 'key:ci',
    issuer: 'host',
    method: 'key',
    roles: ['user'],
    scopes: ['mcp'],
  })
})

test('a wrong secret and a key whose time is over open nothing', () => {
  const { key, record } = newApiKey({ ...about, expiresAt: 5_000 }, 1_000)
  const { secret = '' } = parseApiKey(key) ?? {}
  const holder = principalOfKey(record, secret, 4_999)
  expect(holder).toBeDefined()
  // What is cached for a caller is found again.
  expect(principalOfKey(record, secret, 4_999)).toBe(holder)
  expect(principalOfKey(record, secret, 5_000)).toBeUndefined()
  expect(
    principalOfKey(
      record,
      secret.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      1,
    ),
  ).toBeUndefined()
  expect(principalOfKey(record, '', 1)).toBeUndefined()
})

test.each([
  '',
  'mh_',
  'mh_abc_def',
  'Bearer mh_abc',
  'eyJhbGciOi.x.y',
  `mh_${'g'.repeat(12)}_${'0'.repeat(64)}`,
])('%j is no key', (text) => {
  expect(parseApiKey(text)).toBeUndefined()
})

test.each([
  ['a key', true, ['mcp', 'chat'], ['mcp', 'chat']],
  ['a key', true, ['chat', 'decide'], ['chat', 'decide']],
  ['a record without the mark', undefined, ['mcp', 'chat'], ['mcp', 'chat', 'decide']],
  ['a record without the mark', undefined, ['mcp'], ['mcp']],
  ['a record without the mark', undefined, ['chat', 'decide'], ['chat', 'decide']],
] as const)('%s (%s) that lists %j has %j', (_, namesDecide, scopes, expected) => {
  const { key, record } = newApiKey({ ...about, scopes: [...scopes] }, 1_000)
  const { secret = '' } = parseApiKey(key) ?? {}
  expect(principalOfKey({ ...record, namesDecide }, secret, 2_000)?.scopes).toEqual(expected)
})
