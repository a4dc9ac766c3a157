import { expect, test } from 'vitest'
import { checkClientField } from './check-client.ts'

const REDIRECT = 'http://127.0.0.1/'

test('a client with 20 redirect addresses and a name of 200 characters is taken', () => {
  const metadata = { redirect_uris: Array(20).fill(REDIRECT), client_name: 'x'.repeat(200) }
  for (const [field, value] of Object.entries(metadata)) checkClientField(field, value, metadata)
})

test.each([
  ['claudeai', undefined],
  ['openid profile email', 'openid'],
  ['mcp:tools', undefined],
  ['', undefined],
  ['mcp  offline_access', 'mcp offline_access'],
  ['api://host/mcp mcp Admin chat', 'mcp chat'],
])('of the scopes "%s" a client gets "%s": no other than those of this host', (scope, known) => {
  const metadata = { scope }
  checkClientField('scope', scope, metadata)
  expect(metadata.scope).toBe(known)
})

test.each<[string, Record<string, unknown>]>([
  ['redirect_uris must have at most 20 items', { redirect_uris: Array(21).fill(REDIRECT) }],
  ['client_name must have at most 200 characters', { client_name: 'x'.repeat(201) }],
  [
    'the metadata must have at most 8192 characters as JSON',
    { client_name: undefined, client_uri: 'x'.repeat(8_200) },
  ],
])('a client is refused, since %s', (fault, metadata) => {
  const check = () => {
    for (const [field, value] of Object.entries(metadata)) checkClientField(field, value, metadata)
  }
  expect(check).toThrow(expect.objectContaining({ error_description: fault }))
})
