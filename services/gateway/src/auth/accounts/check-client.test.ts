import { expect, test } from 'vitest'
import { CHECKED_FIELDS, checkClientField } from './check-client.ts'

const REDIRECT = 'http://127.0.0.1/'

test('a client with 20 redirect addresses and a name of 200 characters is taken', () => {
  const metadata = { redirect_uris: Array(20).fill(REDIRECT), client_name: 'x'.repeat(200) }
  for (const [field, value] of Object.entries(metadata)) checkClientField(field, value, metadata)
})

test.each([
  'https://client.example/callback',
  'http://localhost:4321/callback',
  'http://[::1]/',
  'com.example.app:/callback',
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'vscode://vscode.github-authentication/did-authenticate',
  'goose://callback',
  'jan:/callback',
  'cherrystudio://oauth/callback',
  'org.chromium.app:/callback',
])('a client may be sent back to %s', (address) => {
  expect(() => checkClientField('redirect_uris', [address], {})).not.toThrow()
})

test.each([
  'view-source:https://client.example/',
  'filesystem:https://client.example/x',
  'ms-msdt:/id',
  'ws://client.example/',
  'intent://x#Intent;end',
  'mailto:ann@client.example',
  'MS-SETTINGS:x',
  'chrome-extension://x/callback',
  'vbscript:x',
  'search-ms:query=x',
  'x-apple.systempreferences:x',
])('a client may not be sent back to %s, whose scheme is not its own', (address) => {
  const check = () => checkClientField('redirect_uris', [address], {})
  const fault = expect.stringMatching(
    /^redirect_uris must not use the scheme \S+: of browsers or systems but https,/,
  )
  expect(check).toThrow(expect.objectContaining({ error_description: fault }))
})

test('what a client does not have, and what this host does not support, is left out', () => {
  const metadata: Record<string, unknown> = {
    redirect_uris: [REDIRECT],
    client_uri: '',
    logo_uri: null,
    contacts: [],
    software_version: '1',
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'code id_token'],
  }
  for (const field of CHECKED_FIELDS) checkClientField(field, metadata[field], metadata)
  expect(metadata).toEqual({
    redirect_uris: [REDIRECT],
    software_version: '1',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  })
})

test('a client that wants only what this host does not support keeps it, and is refused by that', () => {
  const metadata = { redirect_uris: [REDIRECT], grant_types: ['client_credentials'] }
  checkClientField('redirect_uris', metadata.redirect_uris, metadata)
  expect(metadata.grant_types).toEqual(['client_credentials'])
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
  [
    'the metadata is nested more than 256 levels deep',
    { redirect_uris: JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`), client_name: 'x' },
  ],
  ['redirect_uris must have at most 20 items', { redirect_uris: Array(21).fill(REDIRECT) }],
  ['client_name must have at most 200 characters', { client_name: 'x'.repeat(201) }],
  ['client_name must not have control characters', { client_name: 'a\nb' }],
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
