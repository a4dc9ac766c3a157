import { expect, test } from 'vitest'
import { LOCAL, Principal } from './principal.ts'

test('a record with a scope of a later version is read, and grants the known ones alone', () => {
  const stored = { ...LOCAL, scopes: ['chat', 'of-a-later-version'] }
  expect(Principal.parse(stored).scopes).toEqual(['chat'])
})
