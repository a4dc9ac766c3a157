import { ServerName } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { chooseLabel } from './choose-label.ts'
import type { KnownLogin } from './login-vault.ts'

const rules = [
  { when: { owner: 'acme' }, label: 'work' },
  { when: { owner: 'me', public: true }, label: 'private' },
]
const login = (label: string, connectedAt: number): KnownLogin => ({
  server: ServerName.parse('code'),
  url: 'https://code.example/mcp',
  principal: 'user:ann',
  label,
  id: label,
  issuer: 'https://login.example',
  connectedAt,
  isUsable: true,
})
const logins = [login('other', 2), login('first', 1)]

test.each([
  ['a rule whose arguments are all the same', { owner: 'acme', repo: 'x' }, 'work'],
  ['a rule of several arguments', { owner: 'me', public: true }, 'private'],
  ['no rule of which one argument differs', { owner: 'me', public: 'true' }, 'first'],
  ['no rule without arguments', undefined, 'first'],
])('%s decides', (_, given, label) => {
  expect(chooseLabel({ rules, logins, arguments: given })).toBe(label)
})

test('the caller decides where no rule does', () => {
  expect(chooseLabel({ rules, logins, wanted: 'other', arguments: {} })).toBe('other')
  expect(chooseLabel({ rules, logins, wanted: 'other', arguments: { owner: 'acme' } })).toBe('work')
})

test('a user without a login gets the label of most users', () => {
  expect(chooseLabel({ rules: [], logins: [] })).toBe('default')
})

test('the login that its user has chosen last is the default one', () => {
  const chosen = [
    { ...login('a', 1), defaultSince: 5 },
    { ...login('b', 2), defaultSince: 6 },
  ]
  expect(chooseLabel({ rules: [], logins: [login('c', 0), ...chosen] })).toBe('b')
})
